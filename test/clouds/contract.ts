import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Cloud, CloudError, Reservation } from '../../clouds/cloud.ts'
import type { Door } from '../../sandbox/clouds/door.ts'
import { cloudErrorOf, neverAborted } from './scripted-server.ts'

/** A vendor's client before a simulated cloud in which nothing is reserved yet. */
export type Stage = AsyncDisposable & {
  cloud: Cloud
  /** The same client with a key that the cloud does not know, and with one that may only read. */
  withUnknownKey: Cloud
  withReadOnlyKey: Cloud
  /** Every key in use here: no message may hold one. */
  keys: string[]
  location: string
  door: Door
  routes: { reserve: string; release: string; list: string }
  /** From now on the cloud takes its time; then a person decides. */
  grantLate(): void
  grant(id: string): void
  deny(id: string): void
}

const marks = { usage: 'test-auto', service: 'l7RnKS8k48oG3Qv3Pxx8FzEMj3X3E5c8JPOIzyLWWdY=', cluster: 'one' }

/** What every vendor's client owes to the port. The suite fills the file that calls it. */
export function cloudContract(name: string, start: () => Promise<Stage>): void {
  const on = (title: string, run: (stage: Stage) => Promise<void>) =>
    test(`${name}: ${title}`, async () => {
      await using stage = await start()
      await run(stage)
    })
  reserving(on)
  listing(on)
  releasing(on)
  refusing(on)
  failing(on)
}

type On = (title: string, run: (stage: Stage) => Promise<void>) => void

const reserve = ({ cloud, location }: Stage, more = {}) =>
  cloud.reserve({ location, marks: { ...marks, ...more } }, neverAborted)
const list = ({ cloud }: Stage, wanted = {}) => cloud.reservations(wanted, neverAborted)
const idsOf = (reservations: Reservation[]) => reservations.map(({ id }) => id).toSorted()

/** As many addresses as that, each with a service of its own. */
async function crowd(stage: Stage, size: number): Promise<string[]> {
  stage.door.quota.set(size)
  const all = Array.from({ length: size }, (_, n) => reserve(stage, { service: `s${n}` }))
  return idsOf(await Promise.all(all))
}

/** The refusal of a call, which has to keep every secret. */
async function refusalOf({ keys }: Stage, work: Promise<unknown>): Promise<CloudError> {
  const error = await cloudErrorOf(work)
  for (const key of keys) assert.not.match(`${error.message} ${error.stack} ${JSON.stringify(error)}`, key)
  return error
}

function reserving(on: On): void {
  on('an address is reserved in one call, and found by id and marks', async (stage) => {
    const reservation = await reserve(stage)
    assert.is(stage.door.calls.count(), 1)
    assert.is(reservation.state, 'reserved')
    assert.match(reservation.address ?? '', /^\d+\.\d+\.\d+\.\d+$/)
    assert.is(reservation.location, stage.location)
    assert.equal({ ...reservation.marks }, marks)
    assert.ok(Math.abs(Date.parse(reservation.createdAt ?? '') - Date.now()) < 60_000)
    assert.equal(await stage.cloud.reservation(reservation.id, neverAborted), reservation)
    assert.equal(await list(stage, marks), [reservation])
  })

  on('an address that is granted late is requested first, and reserved in the end', async (stage) => {
    stage.grantLate()
    const { id, state, address } = await reserve(stage)
    assert.equal([state, address], ['requested', undefined])
    assert.equal((await list(stage, marks))[0]?.state, 'requested')
    stage.grant(id)
    const granted = await stage.cloud.reservation(id, neverAborted)
    assert.is(granted?.state, 'reserved')
    assert.ok(granted?.address)
  })

  on('an address that is never granted is denied, and can be given back', async (stage) => {
    stage.grantLate()
    const { id } = await reserve(stage)
    stage.deny(id)
    const denied = await stage.cloud.reservation(id, neverAborted)
    assert.equal([denied?.state, denied?.address], ['denied', undefined])
    await stage.cloud.release(id, neverAborted)
    assert.equal(await list(stage), [])
  })

  on('locations have the codes that addresses are reserved by, and each one name', async (stage) => {
    const locations = await stage.cloud.locations(neverAborted)
    const codes = locations.map(({ code }) => code)
    assert.ok(codes.includes(stage.location))
    assert.is(new Set(codes).size, codes.length)
    assert.ok(locations.every(({ name }) => name !== ''))
  })
}

function listing(on: On): void {
  on('two clusters in one project see their own addresses alone', async (stage) => {
    const one = await reserve(stage, { cluster: 'one' })
    const two = await reserve(stage, { cluster: 'two' })
    const { usage } = marks
    assert.equal(idsOf(await list(stage, { usage, cluster: 'one' })), [one.id])
    assert.equal(idsOf(await list(stage, { usage, cluster: 'two' })), [two.id])
    assert.equal(idsOf(await list(stage, { usage })), [one.id, two.id].toSorted())
    assert.equal(await list(stage, { usage, cluster: 'three' }), [])
  })

  on('270 addresses are all listed, and the last one found', async (stage) => {
    const ids = await crowd(stage, 270)
    assert.equal(idsOf(await list(stage, { usage: marks.usage })), ids)
    for (const n of [0, 135, 269]) assert.is((await list(stage, { ...marks, service: `s${n}` })).length, 1)
  })

  on('a cloud that gives shorter pages than it was asked for gives them all', async (stage) => {
    const ids = await crowd(stage, 12)
    stage.door.faults.add({ on: stage.routes.list, answer: 'short-pages', perPage: 5 })
    assert.equal(idsOf(await list(stage)), ids)
  })

  on('a cloud that gives shorter pages in between gives them all', async (stage) => {
    const ids = await crowd(stage, 12)
    stage.door.faults.add({ on: stage.routes.list, answer: 'short-pages', perPage: 5, times: 1 })
    assert.equal(idsOf(await list(stage)), ids)
  })

  on('pages that do not fit together are never taken for the whole', async (stage) => {
    const ids = await crowd(stage, 120)
    stage.door.faults.add({ on: stage.routes.list, answer: 'shuffled-list' })
    const listed = await list(stage).catch((error: CloudError) => error.fault)
    assert.equal(Array.isArray(listed) ? idsOf(listed) : listed, Array.isArray(listed) ? ids : 'unavailable')
  })
}

function releasing(on: On): void {
  on('an address that is given back is gone, and giving it back again is fine', async (stage) => {
    const kept = await reserve(stage, { service: 'kept' })
    const { id } = await reserve(stage)
    await stage.cloud.release(id, neverAborted)
    assert.is(await stage.cloud.reservation(id, neverAborted), undefined)
    assert.equal(idsOf(await list(stage)), [kept.id])
    await stage.cloud.release(id, neverAborted)
    assert.equal(idsOf(await list(stage)), [kept.id])
  })

  on('an address that never was is gone', async (stage) => {
    const id = '00000000-0000-4000-8000-000000000000'
    assert.is(await stage.cloud.reservation(id, neverAborted), undefined)
    await stage.cloud.release(id, neverAborted)
  })

  on('a release whose answer is lost can be asked for again', async (stage) => {
    const { id } = await reserve(stage)
    stage.door.faults.add({ on: stage.routes.release, answer: 'reset', done: true, times: 1 })
    const error = await refusalOf(stage, stage.cloud.release(id, neverAborted))
    assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
    await stage.cloud.release(id, neverAborted)
    assert.is(await stage.cloud.reservation(id, neverAborted), undefined)
  })
}

function refusing(on: On): void {
  on('over quota nothing is bought', async (stage) => {
    stage.door.quota.set(1)
    await reserve(stage, { service: 'first' })
    const error = await refusalOf(stage, reserve(stage, { service: 'second' }))
    assert.equal([error.fault, error.outcome], ['quota', 'nothing'])
    assert.is((await list(stage)).length, 1)
  })

  on('a location that does not exist is named', async (stage) => {
    const error = await refusalOf(stage, stage.cloud.reserve({ location: 'zz', marks }, neverAborted))
    assert.equal([error.fault, error.outcome], ['invalid', 'nothing'])
    assert.match(error.message, '"zz"')
    assert.equal(await list(stage), [])
  })

  on('a key that the cloud does not know is refused for everything', async (stage) => {
    const { id } = await reserve(stage)
    const { withUnknownKey: cloud, location } = stage
    const calls = [
      () => cloud.reserve({ location, marks }, neverAborted),
      () => cloud.reservations(marks, neverAborted),
      () => cloud.reservation(id, neverAborted),
      () => cloud.release(id, neverAborted),
    ]
    for (const call of calls) {
      const error = await refusalOf(stage, call())
      assert.equal([error.fault, error.outcome], ['auth', 'nothing'])
      assert.match(error.message, 'check that the API key')
    }
    assert.equal(idsOf(await list(stage)), [id])
  })

  on('a key that may only read takes nothing and gives nothing back', async (stage) => {
    const { id } = await reserve(stage)
    const { withReadOnlyKey: cloud, location } = stage
    assert.is((await cloud.reservations(marks, neverAborted)).length, 1)
    const calls = [() => cloud.reserve({ location, marks }, neverAborted), () => cloud.release(id, neverAborted)]
    for (const call of calls) {
      const error = await refusalOf(stage, call())
      assert.equal([error.fault, error.outcome], ['auth', 'nothing'])
    }
    assert.equal(idsOf(await list(stage)), [id])
  })
}

function failing(on: On): void {
  const losses = [500, 502, 'reset'] as const
  for (const answer of losses) {
    on(`a reservation whose answer is lost (${answer}) is asked for once, and found by its marks`, async (stage) => {
      stage.door.faults.add({ on: stage.routes.reserve, answer, done: true })
      const error = await refusalOf(stage, reserve(stage))
      assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
      assert.is(stage.door.calls.count(stage.routes.reserve), 1)
      const [found] = await list(stage, marks)
      assert.is(found?.state, 'reserved')
    })

    on(`a reservation that was never made (${answer}) is asked for once, and not there`, async (stage) => {
      stage.door.faults.add({ on: stage.routes.reserve, answer })
      const error = await refusalOf(stage, reserve(stage))
      assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
      assert.is(stage.door.calls.count(stage.routes.reserve), 1)
      assert.equal(await list(stage, marks), [])
    })
  }

  on('a caller who cannot wait any longer does not know how it ended', async (stage) => {
    stage.door.faults.add({ on: stage.routes.reserve, answer: 'hang' })
    const { cloud, location } = stage
    const error = await refusalOf(stage, cloud.reserve({ location, marks }, AbortSignal.timeout(100)))
    assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
  })

  on('a cloud that wants to be left alone says for how long', async (stage) => {
    stage.door.faults.add({ on: stage.routes.reserve, answer: 429, retryAfterSeconds: 3 })
    const error = await refusalOf(stage, reserve(stage))
    assert.equal([error.fault, error.outcome, error.retryAfterMs], ['rate-limit', 'nothing', 3000])
    assert.is(stage.door.calls.count(stage.routes.reserve), 1)
  })

  for (const answer of [429, 500, 503, 'reset'] as const)
    on(`a list outlives two times ${answer}`, async (stage) => {
      const { id } = await reserve(stage)
      stage.door.faults.add({ on: stage.routes.list, answer, times: 2, retryAfterSeconds: 0.01 })
      assert.equal(idsOf(await list(stage, marks)), [id])
    })

  on('a list that fails is an error, not an empty list', async (stage) => {
    await reserve(stage)
    for (const answer of [403, 500, 'reset'] as const) {
      stage.door.faults.clear()
      stage.door.faults.add({ on: stage.routes.list, answer })
      await refusalOf(stage, list(stage, marks))
    }
  })
}
