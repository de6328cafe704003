import { mock } from 'node:test'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Reservation } from '../../../clouds/ports/cloud.ts'
import type { IpAddress } from '../../../lib/ip-address.ts'
import { knownReservations } from '../../../ledger/own/provider-lists.ts'
import { makeReservation } from '../../builders.ts'
import { silentLog } from '../../fakes/log.ts'

const neverAborted = new AbortController().signal
const at = (text: string): IpAddress => ({ text, family: 'ipv4' })

/** A project whose list can be changed, and a clock. */
function project(...list: Reservation[]) {
  const state = { list: list as Reservation[] | undefined, nowMs: 0, reads: 0, changes: 0 }
  const cloud = {
    reservations: () => {
      state.reads += 1
      return state.list ? Promise.resolve(state.list) : Promise.reject(new Error('no answer'))
    },
  }
  const known = knownReservations({ cloud, log: silentLog, now: () => state.nowMs })
  known.onChange(() => (state.changes += 1))
  return { state, known, refresh: (address: string) => known.refresh(at(address), neverAborted) }
}

test('nothing is known before the first successful read', async () => {
  const { state, known, refresh } = project()
  state.list = undefined
  await refresh('203.0.113.40')
  assert.is(known.has(at('203.0.113.40')), undefined)
})

test('a list that has an address is read again after minutes, one that lacks it after seconds', async () => {
  const { state, known, refresh } = project(makeReservation())
  await refresh('203.0.113.40')
  assert.equal([known.has(at('203.0.113.40')), known.has(at('203.0.113.41')), state.changes], [true, false, 1])
  state.nowMs += 11_000
  await refresh('203.0.113.40')
  assert.is(state.reads, 1)
  state.list = [makeReservation(), makeReservation({ id: 'res-2', address: '203.0.113.41' })]
  await refresh('203.0.113.41')
  assert.equal([known.has(at('203.0.113.41')), state.reads, state.changes], [true, 2, 2])
  state.nowMs += 301_000
  await refresh('203.0.113.40')
  assert.equal([state.reads, state.changes], [3, 2], 'the same list is no change')
})

test('every address of a block is reserved', async () => {
  const { known, refresh } = project(makeReservation({ address: '203.0.113.48', prefixLength: 29 }))
  await refresh('203.0.113.50')
  assert.equal([known.has(at('203.0.113.55')), known.has(at('203.0.113.56'))], [true, false])
})

test('a reservation is found by its address, and a change of what its marks name is a change', async () => {
  const block = makeReservation({ id: 'res-2', address: '203.0.113.48', prefixLength: 29 })
  const { state, known, refresh } = project(makeReservation({ marks: { cluster: 'a', sign: '1' } }), block)
  await refresh('203.0.113.40')
  assert.equal([known.find(at('203.0.113.40'))?.marks['cluster'], known.find(at('203.0.113.50'))?.id], ['a', 'res-2'])
  for (const [marks, changes] of [
    [{ cluster: 'a', sign: '2' }, 1],
    [{ cluster: 'b', sign: '2' }, 2],
    [{ cluster: 'b', sign: '2', service: 'web' }, 3],
  ] as const) {
    state.nowMs += 301_000
    state.list = [makeReservation({ marks }), block]
    await refresh('203.0.113.40')
    assert.is(state.changes, changes)
  }
})

test('a reservation that is being deleted belongs to no Service, however long the provider lists it', async () => {
  const { state, known, refresh } = project(makeReservation())
  await refresh('203.0.113.40')
  known.forget({ id: 'res-1', address: '203.0.113.40' })
  assert.equal([known.has(at('203.0.113.40')), state.changes], [false, 2])
  state.nowMs += 60_000
  await refresh('203.0.113.40')
  assert.equal([known.has(at('203.0.113.40')), state.reads], [false, 2])
  state.list = [makeReservation({ address: '203.0.113.99' })]
  state.nowMs += 60_000
  await refresh('203.0.113.99')
  assert.ok(known.has(at('203.0.113.99')), 'the next order got its id')
})

test('deletions are forgotten in turn, although no user-chosen address has the list read', () => {
  const { state, known } = project()
  const set = mock.method(Map.prototype, 'set')
  known.forget({ id: 'res-0', address: '203.0.113.40' })
  const memory = set.mock.calls.find(({ arguments: [id] }) => id === 'res-0')?.this as Map<string, unknown>
  set.mock.restore()
  for (let n = 1; n <= 100; n += 1) {
    state.nowMs += 60_000
    known.forget({ id: `res-${n}`, address: '203.0.113.40' })
  }
  assert.ok(memory.size < 20, `${memory.size} are remembered`)
})

test.run()
