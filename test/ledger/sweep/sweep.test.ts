import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Reservation } from '../../../clouds/cloud.ts'
import { KubeError } from '../../../kube/errors.ts'
import { elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { serviceMarks } from '../../../ledger/record/marks.ts'
import { makeRecord, makeReservation, makeService } from '../../builders.ts'
import type { HeardCall, Hooks } from '../../fakes/interposed.ts'
import { graceMs, makeWorld, neverAborted, scheme, timeoutMs, type World } from '../harness.ts'

const of = (name: string) => serviceMarks(scheme, `default/${name}`)
const old = makeReservation({ id: 'res-8', address: '203.0.113.8', marks: of('web') })
const isAdopted = (world: World) => world.process('reader').mark.isSet(neverAborted)

/** Sweeps as often as that, with a time between that outlasts every grace. */
async function sweepTimes(world: World, times: number, process = world.process('sweeper')) {
  for (let n = 0; n < times; n += 1) {
    await process.sweep(neverAborted)
    world.pass(graceMs + 1_000)
  }
  return process
}

test("a predecessor's reservation of a live Service becomes its record, and the claim finds it there", async () => {
  const world = makeWorld()
  world.sky.put(old)
  world.addService(makeService())
  const process = await sweepTimes(world, 1)
  assert.is(world.record()?.status?.phase, 'Reserved')
  assert.is(world.record()?.spec.reservationID, 'res-8')
  const claimed = await process.claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.8')
  assert.is(world.sky.calls.reserve, 0)
  assert.ok(await isAdopted(world))
})

test('one that was not granted yet becomes a record that waits for it', async () => {
  const world = makeWorld()
  world.sky.put({ ...old, state: 'requested', address: undefined })
  world.addService(makeService())
  const process = await sweepTimes(world, 1)
  assert.is(world.record()?.status?.phase, 'Requested')
  world.sky.grant('res-8')
  assert.is((await process.claim()).kind, 'held')
  assert.is(world.sky.calls.reserve, 0)
})

test('a reservation whose record waits goes into that record', async () => {
  const world = makeWorld()
  world.sky.put(old)
  world.api.put(elasticIPs, makeRecord({ phase: 'Requested' }))
  await sweepTimes(world, 1)
  assert.equal([world.record()?.status?.phase, world.record()?.status?.address], ['Reserved', '203.0.113.8'])
})

test('but not while somebody is asking for it', async () => {
  const world = makeWorld()
  world.sky.put(old)
  const requestInFlight = { sender: 'another', sentAt: '2026-01-31T08:59:59Z' }
  world.api.put(elasticIPs, makeRecord({ phase: 'Requested', requestInFlight }))
  const process = world.process('sweeper')
  await process.sweep(neverAborted)
  assert.is(world.record()?.status?.reservationID, undefined)
  assert.not(await isAdopted(world))
  world.pass(timeoutMs)
  await process.sweep(neverAborted)
  assert.is(world.record()?.status?.reservationID, 'res-8')
})

test('a record that another wrote in the meantime is left to them, and nothing is called complete', async () => {
  const world = makeWorld()
  world.sky.put(old)
  world.addService(makeService())
  const meanwhile = {
    before: ({ verb }: { verb: string }) =>
      void (verb === 'create' && !world.record() && world.api.put(elasticIPs, makeRecord({ phase: 'Requested' }))),
  }
  const process = world.process('sweeper', { kube: meanwhile })
  await process.sweep(neverAborted)
  assert.is(world.record()?.status?.reservationID, undefined)
  assert.not(await isAdopted(world))
  await process.sweep(neverAborted)
  assert.is(world.record()?.status?.reservationID, 'res-8')
  assert.ok(await isAdopted(world))
})

test('what was given back while the list was read is not adopted', async () => {
  const world = makeWorld()
  world.adopted()
  await world.process('a').claim()
  const deletedAndMadeAnew = {
    after: async ({ verb }: { verb: string }) => {
      if (verb !== 'reservations') return
      await world.process('b').release()
      world.addService(makeService())
    },
  }
  await sweepTimes(world, 1, world.process('sweeper', { sky: deletedAndMadeAnew }))
  assert.is(world.record(), undefined)
  const claimed = await world.process('b').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.2')
})

test('an orphan is given back when a second sweep agrees and it is old enough', async () => {
  const world = makeWorld()
  world.sky.put(old)
  await sweepTimes(world, 1)
  assert.equal(world.sky.released, [])
  const process = await sweepTimes(world, 1)
  assert.equal(world.sky.released, [], 'a process that began anew has seen it once')
  await process.sweep(neverAborted)
  assert.equal(world.sky.released, ['res-8'])
  assert.not(await isAdopted(world))
  await process.sweep(neverAborted)
  assert.ok(await isAdopted(world))
})

test('a young one is not, however often it is seen', async () => {
  const world = makeWorld()
  world.sky.put({ ...old, createdAt: world.now().toISOString() })
  const process = world.process('sweeper')
  for (let n = 0; n < 5; n += 1) await process.sweep(neverAborted)
  assert.equal(world.sky.released, [])
  world.pass(graceMs + 1)
  await process.sweep(neverAborted)
  assert.equal(world.sky.released, ['res-8'])
})

test('one sweep gives back a tenth of all there is at most', async () => {
  const world = makeWorld()
  for (let n = 0; n < 40; n += 1) world.sky.put({ ...old, id: `old-${n}`, marks: of(`gone-${n}`) })
  const process = await sweepTimes(world, 2)
  assert.is(world.sky.released.length, 4)
  await process.sweep(neverAborted)
  assert.is(world.sky.released.length, 7, 'a tenth of the 36 that are left')
})

test('a cloud that cannot be read loses nothing, and what was suspected stays suspected', async () => {
  const world = makeWorld()
  world.sky.put(old)
  const process = await sweepTimes(world, 1)
  world.sky.unreadable = true
  const [unread] = await Promise.allSettled([process.sweep(neverAborted)])
  assert.is(unread.status, 'rejected')
  assert.equal(world.sky.released, [])
  world.sky.unreadable = false
  await process.sweep(neverAborted)
  assert.equal(world.sky.released, ['res-8'])
})

test("another cluster's reservations are none of our business", async () => {
  const world = makeWorld()
  const theirs = { ...of('web'), cluster: 'cluster-2' }
  world.sky.put({ ...old, marks: theirs })
  world.addService(makeService())
  await sweepTimes(world, 4)
  assert.equal([world.record(), world.sky.released], [undefined, []])
  assert.ok(await isAdopted(world))
})

test('of two for one Service the one that it shows is adopted, the other goes', async () => {
  const world = makeWorld()
  const younger: Reservation = { ...old, id: 'res-9', address: '203.0.113.9', createdAt: '2026-01-31T08:30:00Z' }
  world.sky.put(old)
  world.sky.put(younger)
  world.addService(makeService({ loadBalancerIP: '203.0.113.9' }))
  const process = await sweepTimes(world, 1)
  assert.is(world.record()?.status?.address, '203.0.113.9')
  assert.not(await isAdopted(world))
  await sweepTimes(world, 2, process)
  assert.equal(world.sky.released, ['res-8'])
  assert.ok(await isAdopted(world))
})

test('what a live Service shows is never given back, even where its record knows another', async () => {
  const world = makeWorld()
  world.sky.put(old)
  world.addService(makeService({ status: { loadBalancer: { ingress: [{ ip: '203.0.113.8' }] } } }))
  world.api.put(elasticIPs, makeRecord({ phase: 'Bound', address: '203.0.113.9', reservationID: 'res-9' }))
  await sweepTimes(world, 4)
  assert.equal(world.sky.released, [])
})

test('an orphan that a claim finds while the sweep is at work is not given back', async () => {
  const world = makeWorld()
  world.sky.put({ ...old, id: 'gone', address: '203.0.113.7', marks: of('gone') })
  world.sky.put({ ...old, id: 'wanted', createdAt: '2026-01-31T08:30:00Z' })
  for (let n = 0; n < 18; n += 1) world.sky.put({ ...old, id: `young-${n}`, createdAt: undefined, marks: of(`${n}`) })
  const claiming = world.process('a')
  const meanwhile = {
    before: async ({ verb, values }: { verb: string; values: unknown[] }) => {
      if (verb === 'release' && values[0] === 'gone') await claiming.claim()
    },
  }
  await sweepTimes(world, 2, world.process('sweeper', { sky: meanwhile }))
  assert.is(world.record()?.status?.reservationID, 'wanted')
  assert.equal(world.sky.released, ['gone'])
})

test("an orphan that is on its way back is nobody's, however long the cloud lists it", async () => {
  const world = makeWorld()
  world.sky.put(old)
  world.sky.deletesLate = true
  const process = await sweepTimes(world, 2)
  assert.equal(world.sky.released, ['res-8'])
  const [returning] = world.api.stored(elasticIPs)
  assert.equal([returning?.status?.phase, returning?.status?.address], ['Releasing', '203.0.113.8'])
  world.addService(makeService())
  await sweepTimes(world, 2, process)
  await sweepTimes(world, 2, world.process('another'))
  assert.is(world.record(), undefined)
  const claimed = await world.process('b').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  world.sky.settle()
  await process.sweep(neverAborted)
  assert.equal(
    world.api.stored(elasticIPs).map(({ metadata }) => metadata.name),
    ['default.web'],
  )
  assert.equal(world.held(), ['res-1'])
})

test('what the cloud has deleted while a sweep read its list is no orphan again', async () => {
  const world = makeWorld()
  world.sky.put(old)
  world.sky.deletesLate = true
  const sky: Hooks = {}
  const process = await sweepTimes(world, 2, world.process('a', { sky }))
  sky.after = ({ verb }) => void (verb === 'reservations' && world.sky.settle())
  const before = world.sky.calls.release
  await process.sweep(neverAborted)
  assert.equal([world.sky.calls.release - before, world.api.stored(elasticIPs)], [1, []])
})

test('an orphan that somebody uses, and that cannot go back, holds up nothing else', async () => {
  const world = makeWorld()
  world.sky.put({ ...old, id: 'used', address: '203.0.113.7', marks: of('gone') })
  world.sky.refusesRelease = 'conflict'
  const process = await sweepTimes(world, 1)
  await Promise.allSettled([process.sweep(neverAborted)])
  assert.is(world.sky.calls.release, 1)
  world.sky.put(old)
  world.addService(makeService())
  const [told] = await Promise.allSettled([process.sweep(neverAborted)])
  assert.is(told.status, 'rejected')
  assert.is(world.record()?.status?.reservationID, 'res-8')
  world.sky.refusesRelease = undefined
  await process.sweep(neverAborted)
  assert.equal([world.held(), world.sky.released], [['res-8'], ['used']])
})

test('of a claim and a sweep that reach for the same orphan one lets go, whichever call comes first', async () => {
  for (let nth = 1; nth <= 12; nth += 1) {
    const world = makeWorld()
    world.sky.put(old)
    const claiming = world.process('claiming')
    let calls = 0
    const meanwhile = async () => {
      calls += 1
      if (calls === nth) await claiming.claim()
    }
    const process = world.process('sweeper')
    await process.sweep(neverAborted)
    world.pass(graceMs + 1_000)
    const busy = world.process('busy', { kube: { before: meanwhile }, sky: { before: meanwhile } })
    await busy.sweep(neverAborted)
    await busy.sweep(neverAborted)
    await claiming.claim()
    const { reservationID = '' } = world.record()?.status ?? {}
    assert.ok(world.held().includes(reservationID), `call ${nth}: the record holds ${reservationID}, which went`)
  }
})

test('what a process began to give back and did not finish, the next one finishes', async () => {
  for (let nth = 1; nth <= 6; nth += 1) {
    const world = makeWorld()
    world.sky.put(old)
    let calls = -1
    const cut = {
      before: ({ verb }: HeardCall) => {
        if (verb === 'create' && calls < 0) calls = 0
        if (calls >= 0) calls += 1
        if (calls >= nth) throw new KubeError('cut', { status: 0, reason: 'Unreachable' })
      },
    }
    const process = world.process('cut', { kube: cut, sky: cut })
    await process.sweep(neverAborted)
    world.pass(graceMs + 1_000)
    await Promise.allSettled([process.sweep(neverAborted)])
    await sweepTimes(world, 4)
    assert.equal([world.held(), world.api.stored(elasticIPs)], [[], []], `call ${nth}`)
  }
})

test('an adopted address in no place that the cloud has lost is written off like any other', async () => {
  const world = makeWorld()
  world.sky.put({ ...old, location: undefined })
  world.addService(makeService())
  const process = await sweepTimes(world, 1)
  await world.sky.cloud.release('res-8', neverAborted)
  await sweepTimes(world, 2, process)
  assert.equal([world.record()?.status?.phase, world.record()?.status?.reservationID], ['Requested', undefined])
  const claimed = await process.claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(world.record()?.spec.location, 'da')
})

test('a release that the cloud refuses is tried again by the next sweep', async () => {
  const world = makeWorld()
  world.sky.put(old)
  const process = await sweepTimes(world, 1)
  world.sky.refusesRelease = 'conflict'
  const [refused] = await Promise.allSettled([process.sweep(neverAborted)])
  assert.is(refused.status, 'rejected')
  world.sky.refusesRelease = undefined
  await process.sweep(neverAborted)
  assert.equal(world.sky.released, ['res-8'])
})

test('one that was denied is cleared away', async () => {
  const world = makeWorld()
  world.sky.put({ ...old, state: 'denied', address: undefined })
  world.addService(makeService())
  await sweepTimes(world, 2)
  assert.equal([world.record(), world.sky.released], [undefined, ['res-8']])
})

test('a sweep that is told to stop gives nothing more back', async () => {
  const world = makeWorld()
  for (let n = 0; n < 40; n += 1) world.sky.put({ ...old, id: `old-${n}`, marks: of(`gone-${n}`) })
  const stop = new AbortController()
  const lastOne = { after: ({ verb }: { verb: string }) => void (verb === 'release' && stop.abort()) }
  const process = world.process('sweeper', { sky: lastOne })
  await process.sweep(stop.signal)
  const [stopped] = await Promise.allSettled([process.sweep(stop.signal)])
  assert.is(stopped.status, 'rejected')
  assert.is(world.sky.released.length, 1)
})

const held = { phase: 'Bound', address: '203.0.113.8', reservationID: 'res-8' } as const

test('an address that the cloud has lost is written off when two sweeps miss it, and the Service gets another', async () => {
  const world = makeWorld()
  world.addService(makeService())
  world.api.put(elasticIPs, makeRecord(held))
  const process = await sweepTimes(world, 1)
  assert.is(world.record()?.status?.phase, 'Bound')
  await sweepTimes(world, 1, process)
  const { phase, address, message } = world.record()?.status ?? {}
  assert.equal([phase, address], ['Requested', undefined])
  assert.match(message ?? '', 'no longer has 203.0.113.8, reservation res-8')
  const claimed = await process.claim()
  assert.is(claimed.kind, 'held')
  assert.is(world.sky.calls.reserve, 1)
})

test('one that only the list does not tell of is kept', async () => {
  const world = makeWorld()
  world.sky.put({ ...old, marks: {} })
  world.addService(makeService())
  world.api.put(elasticIPs, makeRecord(held))
  await sweepTimes(world, 4)
  assert.is(world.record()?.status?.phase, 'Bound')
})

test('a retained address that the cloud has lost leaves no record behind', async () => {
  const world = makeWorld()
  world.api.put(elasticIPs, makeRecord({ ...held, phase: 'Released' }))
  await sweepTimes(world, 2)
  assert.is(world.record(), undefined)
})

test.run()
