import * as assert from 'uvu/assert'
import { neverAborted } from '../scripted-server.ts'
import { idsOf, list, marks, reserve } from './reserve.ts'
import { type On, refusalOf } from './stage.ts'

/** Reserving, listing and giving back, as they are refused and as they fail. */
export function reservationFailureRules(on: On): void {
  refusing(on)
  failing(on)
}

function refusing(on: On): void {
  on('over quota nothing is bought', async (stage) => {
    stage.control.quota.set(1)
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

  on('a key that the provider does not know is refused for everything', async (stage) => {
    const { id } = await reserve(stage)
    const { withUnknownKey: cloud, location } = stage
    const calls = [
      () => cloud.reserve({ location, marks }, neverAborted),
      () => cloud.reservations(marks, neverAborted),
      () => cloud.reservation(id, neverAborted),
      () => cloud.release({ id, marks: {} }, neverAborted),
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
    const calls = [
      () => cloud.reserve({ location, marks }, neverAborted),
      () => cloud.release({ id, marks: {} }, neverAborted),
    ]
    for (const call of calls) {
      const error = await refusalOf(stage, call())
      assert.equal([error.fault, error.outcome], ['auth', 'nothing'])
    }
    assert.equal(idsOf(await list(stage)), [id])
  })
}

function failing(on: On): void {
  on('an answer about another reservation is no answer, and nothing is deleted', async (stage) => {
    const { id } = await reserve(stage)
    const { id: otherId } = await reserve(stage, { service: 'other==' })
    const { cloud, control } = stage
    control.faults.add({
      on: 'GET',
      answer: 'other-id',
      otherId: Number.isNaN(Number(otherId)) ? otherId : Number(otherId),
    })
    const error = await refusalOf(stage, cloud.reservation(id, neverAborted))
    assert.equal([error.fault, error.outcome], ['unavailable', 'nothing'])
    assert.match(error.message, `another object than ${id}`)
    await refusalOf(stage, cloud.release({ id, marks: {} }, neverAborted))
    assert.is(control.calls.count(stage.routes.release), 0)
    control.faults.clear()
    assert.is((await list(stage)).length, 2)
  })

  for (const answer of [403, 404] as const)
    on(`an empty ${answer} does not come from the provider: the address still exists`, async (stage) => {
      const { id } = await reserve(stage)
      const { release, list: all } = stage.routes
      for (const on of [release, release.replace('DELETE', 'GET')])
        stage.control.faults.add({ on, answer, empty: true })
      const { cloud } = stage
      const looks = [
        () => cloud.reservation(id, neverAborted),
        () => cloud.release({ id, marks: {} }, neverAborted),
        () => cloud.mark({ id, marks: {} }, { team: 'edge' }, neverAborted),
      ]
      for (const look of looks) assert.is((await refusalOf(stage, look())).fault, 'unavailable')
      stage.control.faults.clear()
      stage.control.faults.add({ on: release, answer, empty: true })
      assert.is((await refusalOf(stage, cloud.release({ id, marks: {} }, neverAborted))).fault, 'unavailable')
      stage.control.faults.add({ on: all, answer, empty: true })
      assert.is((await refusalOf(stage, list(stage))).fault, 'unavailable')
    })

  const losses = [500, 502, 'reset'] as const
  for (const answer of losses) {
    on(`a reservation whose answer is lost (${answer}) is asked for once, and found by its marks`, async (stage) => {
      stage.control.faults.add({ on: stage.routes.reserve, answer, done: true })
      const error = await refusalOf(stage, reserve(stage))
      assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
      assert.is(stage.control.calls.count(stage.routes.reserve), 1)
      const [found] = await list(stage, marks)
      assert.is(found?.state, 'reserved')
    })

    on(`a reservation that was never made (${answer}) is asked for once, and not there`, async (stage) => {
      stage.control.faults.add({ on: stage.routes.reserve, answer })
      const error = await refusalOf(stage, reserve(stage))
      assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
      assert.is(stage.control.calls.count(stage.routes.reserve), 1)
      assert.equal(await list(stage, marks), [])
    })
  }

  on('a caller who cannot wait any longer does not know how it ended', async (stage) => {
    stage.control.faults.add({ on: stage.routes.reserve, answer: 'hang' })
    const { cloud, location } = stage
    const error = await refusalOf(stage, cloud.reserve({ location, marks }, AbortSignal.timeout(100)))
    assert.equal([error.fault, error.outcome], ['unavailable', 'unknown'])
  })

  on('a cloud that wants to be left alone says for how long', async (stage) => {
    stage.control.faults.add({ on: stage.routes.reserve, answer: 429, retryAfterSeconds: 3 })
    const error = await refusalOf(stage, reserve(stage))
    assert.equal([error.fault, error.outcome, error.retryAfterMs], ['rate-limit', 'nothing', 3000])
    assert.is(stage.control.calls.count(stage.routes.reserve), 1)
  })

  on('a reserve that came too soon after others is made in a moment, and buys one address', async (stage) => {
    stage.control.faults.add({ on: stage.routes.reserve, answer: 429, times: 2, retryAfterSeconds: 0.01 })
    const { id } = await reserve(stage)
    assert.is(stage.control.calls.count(stage.routes.reserve), 3)
    assert.equal(idsOf(await list(stage, marks)), [id])
  })

  for (const answer of [429, 500, 503, 'reset'] as const)
    on(`a list outlives two times ${answer}`, async (stage) => {
      const { id } = await reserve(stage)
      stage.control.faults.add({ on: stage.routes.list, answer, times: 2, retryAfterSeconds: 0.01 })
      assert.equal(idsOf(await list(stage, marks)), [id])
    })

  on('a list that fails is an error, not an empty list', async (stage) => {
    await reserve(stage)
    for (const answer of [403, 500, 'reset'] as const) {
      stage.control.faults.clear()
      stage.control.faults.add({ on: stage.routes.list, answer })
      await refusalOf(stage, list(stage, marks))
    }
  })
}
