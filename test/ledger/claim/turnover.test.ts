import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { turnover } from '../../../ledger/claim/turnover.ts'
import { makeRecord } from '../../builders.ts'
import { makeHarness } from '../harness.ts'

const start = Date.parse('2026-01-31T09:00:00Z')
const minuteMs = 60_000

function record(uid: string, facts: { namespace?: string; source?: ElasticIP['spec']['source'] } = {}): ElasticIP {
  const { namespace = 'shop', source } = facts
  const one = makeRecord(undefined, { claimRef: { namespace, name: 'web' }, ...(source && { source }) })
  return { ...one, metadata: { ...one.metadata, uid } }
}

/** A limit of one address allows three new ones within an hour: one each minute was counted. */
function afterThree(limit: number | undefined = 1) {
  const clock = { ms: start }
  const counted = turnover({ limit, now: () => new Date(clock.ms) })
  for (const uid of ['a', 'b', 'c']) {
    counted.countOrder(record(uid))
    clock.ms += minuteMs
  }
  return { counted, clock }
}

const message =
  'namespace shop got 3 new addresses within an hour, 3 times --max-addresses-per-namespace; ' +
  'it gets the next one after 2026-01-31T10:00:00.000Z'

test('a fourth new address is refused, with the time of the next one', () => {
  assert.is(afterThree().counted.reason(record('d')), message)
})

const passing: {
  name: string
  record?: ElasticIP
  limit?: number
  act?: (of: ReturnType<typeof afterThree>) => void
}[] = [
  { name: 'one of another namespace', record: record('d', { namespace: 'other' }) },
  { name: 'one that was counted, when it is requested again', record: record('b') },
  {
    name: 'a provisioned one, which is ordered already',
    record: record('d', { source: { name: 'mine', type: 'Provisioned' } }),
  },
  { name: 'one of a namespace that may have two', limit: 2 },
  { name: 'one after an hour', act: ({ clock }) => (clock.ms = start + 60 * minuteMs) },
  {
    name: 'one after the provider has reserved nothing for another',
    act: ({ counted }) => counted.giveBack(record('c')),
  },
  { name: 'one after the clock was set back', act: ({ clock }) => (clock.ms = start - minuteMs) },
]
for (const { name, record: wanted = record('d'), limit = 1, act } of passing) {
  test(`it passes: ${name}`, () => {
    const of = afterThree(limit)
    act?.(of)
    assert.is(of.counted.reason(wanted), undefined)
  })
}

test('an address taken from the warm pool counts, because the pool orders another', () => {
  const counted = turnover({ limit: 1, now: () => new Date(start) })
  for (const uid of ['a', 'b', 'c']) counted.countOrder(record(uid, { source: { name: 'warm-1', type: 'WarmPool' } }))
  assert.is(counted.reason(record('d')), message)
})

test('a provisioned address does not count, nor does one that no Service has claimed', () => {
  const { claimRef: _none, ...spec } = record('x').spec
  const others = ['a', 'b', 'c'].flatMap((uid) => [
    record(uid, { source: { name: 'mine', type: 'Provisioned' } }),
    { ...record(`warm-${uid}`), spec },
  ])
  const counted = turnover({ limit: 1, now: () => new Date(start) })
  for (const other of others) counted.countOrder(other)
  assert.is(counted.reason(record('d')), undefined)
  for (const other of others) assert.is(afterThree().counted.reason(other), undefined)
})

test('without a limit nothing is counted', () => {
  const counted = turnover({ limit: undefined, now: () => new Date(start) })
  for (let n = 0; n < 100; n += 1) assert.is(counted.countOrder(record(String(n))), undefined)
})

test('a loop that claims and releases ends, and requests that the provider refused do not count', async () => {
  const harness = makeHarness()
  const process = harness.alone('a', { limits: { cluster: undefined, namespace: 1 } })
  harness.setAdoptionMark()
  harness.cloud.fates.push('unavailable', 'unavailable')
  const results: string[] = []
  for (let n = 0; n < 6; n += 1) {
    const { kind } = await process.claim()
    results.push(kind)
    await process.release()
  }
  assert.equal(results, ['pending', 'pending', 'held', 'held', 'held', 'refused'])
})

test('addresses that the provider denies in the end do not count', async () => {
  const harness = makeHarness()
  const process = harness.alone('a', { limits: { cluster: undefined, namespace: 1 } })
  harness.setAdoptionMark()
  const results: string[] = []
  for (const name of ['a', 'b', 'c', 'd']) {
    const key = `default/${name}`
    harness.cloud.fates.push('requested')
    results.push((await process.claim({ key })).kind)
    for (const id of harness.reservationsOf(key)) harness.cloud.deny(id)
    results.push((await process.claim({ key })).kind)
    await process.release(key)
  }
  assert.equal(
    results,
    ['a', 'b', 'c', 'd'].flatMap(() => ['pending', 'refused']),
  )
})

/** Thirty orders that the cloud refused, one each second. */
function afterRefusals(count = 30) {
  const clock = { ms: start }
  const counted = turnover({ now: () => new Date(clock.ms) })
  for (let n = 0; n < count; n += 1) {
    counted.noteRefusal(record(`refused ${n}`))
    clock.ms += 1_000
  }
  return { counted, clock }
}

test('after thirty refused orders within five minutes a namespace waits, with or without a limit', () => {
  const { counted, clock } = afterRefusals()
  const reason =
    'the provider refused 30 orders of namespace shop within five minutes; ' +
    'the next one is sent after 2026-01-31T09:05:00.000Z'
  assert.is(counted.countOrder(record('next')), reason)
  clock.ms = start + 5 * minuteMs - 1
  assert.is(counted.reason(record('next')), reason)
  clock.ms = start + 5 * minuteMs
  assert.is(counted.countOrder(record('next')), undefined)
})

const unaffected: { name: string; refusals?: number; wanted?: ElasticIP; ms?: number }[] = [
  { name: 'a namespace with fewer refused orders', refusals: 29 },
  { name: 'another namespace', wanted: record('next', { namespace: 'other' }) },
  { name: 'what needs no order', wanted: record('next', { source: { name: 'mine', type: 'Provisioned' } }) },
  { name: 'a namespace whose clock was set back', ms: start - minuteMs },
]
for (const { name, refusals, wanted = record('next'), ms } of unaffected) {
  test(`refused orders do not count for ${name}`, () => {
    const { counted, clock } = afterRefusals(refusals)
    clock.ms = ms ?? clock.ms
    assert.is(counted.reason(wanted), undefined)
  })
}

test('creates in a loop that the provider refuses are thirty orders, and then none', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const a = harness.alone('a')
  for (let n = 0; n < 40; n += 1) {
    harness.cloud.fates.push('quota')
    assert.is((await a.claim({ key: `shop/web-${n}`, wait: true })).kind, 'refused')
  }
  assert.is(harness.cloud.calls.reserve, 30)
})

test.run()
