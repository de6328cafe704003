import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ClaimResult } from '../../../ledger/claim/claim-spec.ts'
import { limitUnbound } from '../../../ledger/claim/unbound-limit.ts'
import { makeRecord } from '../../builders.ts'

const wanted = { key: 'default/web', location: 'da', reclaim: 'Delete', wait: true } as const
const held: ClaimResult = { kind: 'held', record: makeRecord(), address: '203.0.113.40' }
const signal = new AbortController().signal

test('a claim goes on while few addresses wait for their Services', async () => {
  const claim = limitUnbound({ claim: () => Promise.resolve(held), unbound: () => 2, max: 3 })
  assert.is(await claim(wanted, signal), held)
})

test('one too many is left to the controller', async () => {
  const claim = limitUnbound({ claim: () => Promise.reject(new Error('asked')), unbound: () => 3, max: 3 })
  assert.equal(await claim(wanted, signal), { kind: 'pending', reason: '3 addresses are waiting for their Services' })
})

test('claims under way count, and those that failed do not', async () => {
  const answers = Promise.withResolvers<ClaimResult>()
  let asked = 0
  const claim = limitUnbound({
    claim: () => {
      asked += 1
      return asked === 1 ? Promise.reject(new Error('no API server')) : answers.promise
    },
    unbound: () => 0,
    max: 2,
  })
  await claim(wanted, signal).catch(() => undefined)
  const all = [1, 2, 3, 4].map(() => claim(wanted, signal))
  answers.resolve(held)
  assert.equal(
    (await Promise.all(all)).map(({ kind }) => kind),
    ['held', 'held', 'pending', 'pending'],
  )
  assert.is(asked, 3)
})

test.run()
