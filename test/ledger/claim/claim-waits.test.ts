// Whoever edits a Service that the cloud refuses sends no order by it.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Claim, ClaimResult } from '../../../ledger/claim/claim-spec.ts'
import { claimWaits } from '../../../ledger/claim/claim-waits.ts'
import { makeRecord } from '../../builders.ts'

type OfService = Omit<Partial<Claim>, 'location' | 'elasticIP' | 'reclaim' | 'isReclaimStated'> & { location?: string }

function claimOf({ location = 'da', ...facts }: OfService = {}): Claim {
  return { key: 'shop/web', uid: 'uid-1', family: 'ipv4', wait: false, ...facts, location, reclaim: 'Delete' }
}

const pending = (retryAfterMs: number): ClaimResult => ({ kind: 'pending', reason: 'later', retryAfterMs })
const refused: ClaimResult = { kind: 'refused', reason: 'the quota is used up', retryAfterMs: 0 }
const limited: ClaimResult = { kind: 'refused', reason: 'one address is the limit' }
const busy: ClaimResult = { kind: 'busy', reason: 'under way' }
const held: ClaimResult = { kind: 'held', record: makeRecord(), address: '203.0.113.40' }

const start = Date.parse('2026-01-31T09:00:00Z')

function memory() {
  const clock = { ms: 0 }
  return { clock, waits: claimWaits({ monotonicMs: () => clock.ms, now: () => new Date(start + clock.ms) }) }
}

const seconds = 1_000

// `elsewhere`: the wait of the same Service when it requests an address in another location.
const cases: { name: string; results: ClaimResult[]; fromMs: number; toMs: number; elsewhere: boolean }[] = [
  { name: 'refused by the provider', results: [refused], fromMs: 250, toMs: 500, elsewhere: false },
  {
    name: 'refused by the provider three times',
    results: [refused, refused, refused],
    fromMs: 1_000,
    toMs: 2_000,
    elsewhere: false,
  },
  {
    name: 'refused many times',
    results: Array.from({ length: 20 }, () => refused),
    fromMs: 150 * seconds,
    toMs: 300 * seconds,
    elsewhere: false,
  },
  { name: 'not granted yet', results: [pending(0)], fromMs: 5 * seconds, toMs: 5 * seconds, elsewhere: false },
  {
    name: 'one too many, by the words of the provider',
    results: [pending(60 * seconds)],
    fromMs: 60 * seconds,
    toMs: 60 * seconds,
    elsewhere: true,
  },
  {
    name: 'told to wait for a day',
    results: [pending(86_400 * seconds)],
    fromMs: 600 * seconds,
    toMs: 600 * seconds,
    elsewhere: true,
  },
  {
    name: 'over our limit, without a call',
    results: [limited],
    fromMs: 1 * seconds,
    toMs: 1 * seconds,
    elsewhere: false,
  },
  { name: 'under way elsewhere', results: [busy], fromMs: 1 * seconds, toMs: 1 * seconds, elsewhere: false },
  { name: 'held', results: [refused, held], fromMs: 0, toMs: 0, elsewhere: false },
]
for (const { name, results, fromMs, toMs, elsewhere } of cases) {
  test(`the next claim of a Service that was ${name} waits from ${fromMs} to ${toMs} ms`, () => {
    const { waits } = memory()
    for (const result of results) waits.note(claimOf(), result)
    const leftMs = waits.leftMs(claimOf())
    assert.ok(leftMs >= fromMs && leftMs <= toMs, `${leftMs}`)
    assert.is(waits.standing(claimOf())?.kind, toMs === 0 ? undefined : results.at(-1)?.kind)
    assert.is(waits.leftMs(claimOf({ location: 'ny' })) > 0, elsewhere)
  })
}

test('the wait ends, and after the next refusal it is longer', () => {
  const { waits, clock } = memory()
  waits.note(claimOf(), refused)
  clock.ms = 500
  assert.is(waits.leftMs(claimOf()), 0)
  assert.is(waits.standing(claimOf()), undefined)
  waits.note(claimOf(), refused)
  assert.ok(waits.leftMs(claimOf()) >= 500)
})

test('a request that keeps changing while the provider does not answer soon leads to no more orders', () => {
  const { waits, clock } = memory()
  let orders = 0
  for (let n = 0; n < 50; n += 1) {
    const claim = claimOf({ location: n % 2 === 0 ? 'da' : 'ny' })
    if (waits.leftMs(claim) > 0) continue
    orders += 1
    waits.note(claim, pending(0))
    clock.ms += 50
  }
  assert.is(orders, 4)
  clock.ms += 5 * seconds
  assert.is(waits.leftMs(claimOf()), 0)
})

test('an address that stays pending is asked for less and less often', () => {
  const { waits, clock } = memory()
  const waitAt = (ms: number) => {
    clock.ms = ms
    waits.note(claimOf(), pending(0))
    return waits.leftMs(claimOf())
  }
  assert.equal(
    [0, 30, 300].map((at) => waitAt(at * seconds)),
    [5, 15, 60].map((wait) => wait * seconds),
  )
})

test('no other Service waits: neither one of another name, nor its successor, nor one that is not stored yet', () => {
  const { waits } = memory()
  waits.note(claimOf(), pending(60 * seconds))
  for (const other of [{ key: 'shop/api' }, { uid: 'uid-2' }, { uid: undefined }])
    assert.is(waits.leftMs(claimOf(other)), 0, JSON.stringify(other))
  waits.note(claimOf({ key: 'shop/new', uid: undefined }), refused)
  assert.is(waits.leftMs(claimOf({ key: 'shop/new', uid: undefined })), 0)
})

test('a review says when the provider is asked again, and asks what needs no cloud at once', () => {
  const { waits } = memory()
  for (const result of [busy, limited]) {
    waits.note(claimOf(), result)
    assert.is(waits.standing(claimOf({ wait: true })), undefined, result.kind)
  }
  waits.note(claimOf(), pending(60 * seconds))
  const standing = waits.standing(claimOf({ wait: true }))
  assert.is(
    standing?.kind === 'pending' && standing.reason,
    'later; the provider is asked again after 2026-01-31T09:01:00.000Z',
  )
})

test('a wait that was forgotten after twenty minutes starts over', () => {
  const { waits, clock } = memory()
  for (let refusals = 0; refusals < 9; refusals++) waits.note(claimOf(), refused)
  clock.ms = 20 * 60 * seconds
  waits.note(claimOf({ key: 'shop/api' }), refused)
  waits.note(claimOf(), refused)
  assert.ok(waits.leftMs(claimOf()) <= 500)
})

test.run()
