import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ClaimResult } from '../../../ledger/claim/claim-spec.ts'
import { limitUnbound } from '../../../ledger/claim/unbound-limit.ts'
import { makeRecord } from '../../builders.ts'

const wanted = { key: 'default/web', location: 'da', reclaim: 'Delete', wait: true } as const
const held: ClaimResult = { kind: 'held', record: makeRecord(), address: '203.0.113.40' }
const signal = new AbortController().signal

test('a claim passes while fewer addresses than the maximum are unbound', async () => {
  const claim = limitUnbound({ claim: () => Promise.resolve(held), unbound: () => 2, max: 3 })
  assert.is(await claim(wanted, signal), held)
})

test('a claim beyond the maximum of unbound addresses is pending', async () => {
  const claim = limitUnbound({ claim: () => Promise.reject(new Error('asked')), unbound: () => 3, max: 3 })
  assert.equal(await claim(wanted, signal), { kind: 'pending', reason: '3 addresses are waiting for their Services' })
})

test('claims that are running count as unbound, and failed ones do not', async () => {
  const answers = Promise.withResolvers<ClaimResult>()
  let claims = 0
  const claim = limitUnbound({
    claim: () => {
      claims += 1
      return claims === 1 ? Promise.reject(new Error('no API server')) : answers.promise
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
  assert.is(claims, 3)
})

test.run()
