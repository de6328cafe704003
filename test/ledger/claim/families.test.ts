// Addresses of the two families: what a claim orders, and what it does not take for its own.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { bind } from '../../../ledger/claim/stored-record.ts'
import { claims } from '../../../ledger/claim/claim.ts'
import type { ClaimResult } from '../../../ledger/claim/claim-spec.ts'
import { type ElasticIP, elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { serviceMarks } from '../../../ledger/record/marks.ts'
import { postponeRelease, retain } from '../../../ledger/release/release.ts'
import { makeLot, makeReservation } from '../../builders.ts'
import { neverAborted } from '../../clouds/scripted-server.ts'
import type { HeardCall } from '../../fakes/interposed.ts'
import { makeHarness, scheme, timeoutMs } from '../harness.ts'

const six = { family: 'ipv6' } as const
const marks = serviceMarks(scheme, 'default/web')
const verdict = (claimed: ClaimResult) =>
  claimed.kind === 'held' ? claimed.address : `${claimed.kind}: ${claimed.reason}`

test('a claim of an IPv6 address orders one, and the record names the family', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  assert.is(verdict(await harness.alone('a').claim(six)), '2001:db8::1')
  assert.is(harness.record()?.spec.ipFamily, 'IPv6')
  assert.is(verdict(await harness.alone('b').claim(six)), '2001:db8::1')
  assert.is(harness.cloud.calls.reserve, 1)
})

test("a reservation with the Service's marks is not used by a claim of the other family", async () => {
  const harness = makeHarness()
  harness.cloud.put(makeReservation({ id: 'res-9', marks }))
  assert.is(verdict(await harness.alone('a').claim(six)), '2001:db8::1')
  assert.equal(harness.reservationsOf().toSorted(), ['res-1', 'res-9'])
})

test('a retained address of the other family stays retained, and the claim says how to release it', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.alone('a')
  await process.claim({ reclaim: 'Retain' })
  await bind(process.deps, { record: harness.record() as ElasticIP, uid: 'uid-0' }, neverAborted)
  await retain(process.deps, harness.record() as ElasticIP, neverAborted)
  assert.match(
    verdict(await process.claim(six)),
    /^refused: 203\.0\.113\.1 is kept for it, but it requests an IPv6 address; release .*kubectl delete eip default\.web/,
  )
  assert.equal([harness.record()?.status?.phase, harness.cloud.released], ['Released', []])
})

for (const [what, other] of [
  ['another family', six],
  ['another location', { location: 'sv' }],
] as const)
  test(`an address that is being released is not given to the next Service of the name that wants ${what}`, async () => {
    const harness = makeHarness()
    harness.setAdoptionMark()
    const process = harness.alone('a')
    await process.claim({ location: 'da' })
    const reason = 'its Service was deleted'
    await postponeRelease(process.deps, { record: harness.record() as ElasticIP, reason }, neverAborted)
    assert.match(verdict(await process.claim({ location: 'da', ...other })), /^busy: /)
    assert.is(await process.release(), 'released')
    const next = await process.claim({ location: 'da', ...other })
    assert.is(next.kind === 'held' && next.record.status?.reservationID, 'res-2')
  })

test('while nothing may be reserved, a Service does not get the address of the other family either', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const { deps } = harness.alone('a')
  await harness.alone('a').claim(six)
  const halted = claims({ ...deps, haltReason: () => Promise.resolve('another cluster uses the id') })
  const wanted = { key: 'default/web', location: 'da', reclaim: 'Delete', wait: false } as const
  const claim = (family: 'ipv4' | 'ipv6') => halted.claim({ ...wanted, family }, neverAborted)
  assert.is(verdict(await claim('ipv6')), '2001:db8::1')
  assert.is(verdict(await claim('ipv4')), 'pending: another cluster uses the id')
})

test('while nothing may be reserved, a Service that names an ElasticIP does not get what an earlier one left', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const { deps } = harness.alone('a')
  await harness.alone('a').claim()
  const halted = claims({ ...deps, haltReason: () => Promise.resolve('another account') })
  const wanted = { key: 'default/web', family: 'ipv4', wait: false } as const
  assert.is(verdict(await halted.claim({ ...wanted, location: 'da', reclaim: 'Delete' }, neverAborted)), '203.0.113.1')
  assert.is(verdict(await halted.claim({ ...wanted, elasticIP: 'office' }, neverAborted)), 'pending: another account')
})

test('an ElasticIP of the other family is refused by name', async () => {
  const harness = makeHarness()
  const address = '2001:db8:7::1'
  harness.cloud.put(makeReservation({ id: 'res-7', address }))
  const status = { phase: 'Available', address, reservationID: 'res-7' } as const
  harness.api.put(elasticIPs, makeLot('office', { reclaimPolicy: 'Retain', reservationID: 'res-7' }, status))
  const process = harness.alone('a')
  assert.is(
    verdict(await process.claim({ elasticIP: 'office' })),
    `refused: ElasticIP office is ${address}, and the Service needs an IPv4 address; name another one`,
  )
  assert.is(verdict(await process.claim({ elasticIP: 'office', ...six })), address)
})

test('an IPv6 Service does not get a warm IPv4 address', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.alone('a', { warmPool: 1 })
  await process.fillPool()
  await process.reconcileSource('warm-da-1')
  assert.is(verdict(await process.claim(six)), '2001:db8::2')
  assert.is(verdict(await process.claim({ key: 'default/db' })), '203.0.113.1')
})

test('a warm address that the second record of a Service is about to hold goes to no other Service', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const pool = harness.alone('a', { warmPool: 1 })
  await pool.fillPool()
  await pool.reconcileSource('warm-da-1')
  const key = 'default/web.ipv4'
  const dies = ({ verb, values: [, object] }: HeardCall) => {
    const { metadata, status } = object as Partial<ElasticIP>
    if (verb === 'replace' && metadata?.name === 'default.web.ipv4' && status?.address) throw new Error('it dies')
  }
  const dying = harness.alone('b', { kube: { before: dies } })
  await dying.claim(six)
  await dying.claim({ key }).catch(() => undefined)
  await pool.reconcileSource('warm-da-1')
  const warm = harness.api.stored(elasticIPs).find(({ metadata }) => metadata.name === 'warm-da-1')
  assert.is(warm?.spec.claimRef?.elasticIPUID, harness.record(key)?.metadata.uid)
  assert.is(verdict(await pool.claim({ key: 'default/db' })), '203.0.113.3')
  assert.match(verdict(await pool.claim({ key })), /^busy/)
  harness.advance(timeoutMs + 1_000)
  assert.is(verdict(await pool.claim({ key })), '203.0.113.1')
})

test('an address of another family than ordered is kept, and no Service gets it', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates = ['requested']
  const process = harness.alone('a')
  await process.claim(six)
  harness.cloud.put(makeReservation({ marks, createdAt: harness.now().toISOString() }))
  assert.match(
    verdict(await process.claim(six)),
    /pending: .*203\.0\.113\.40, which is no IPv6 address; it stays reserved/,
  )
  assert.equal([harness.record()?.status?.address, harness.cloud.released], [undefined, []])
})

test('an address of another family that an earlier record ordered is left alone, and the record orders its own', async () => {
  const harness = makeHarness()
  harness.cloud.fates = ['requested']
  const process = harness.alone('a')
  await process.claim()
  harness.api.drop(elasticIPs, { name: 'default.web' })
  harness.advance(60_000)
  assert.match(verdict(await process.claim(six)), /^pending: .* has not granted the address yet/)
  assert.is(harness.record()?.status?.reservationID, 'res-1')
  harness.cloud.grant('res-1')
  assert.match(verdict(await process.claim(six)), /203\.0\.113\.1, which is no IPv6 address; another one is ordered/)
  assert.is(verdict(await process.claim(six)), '2001:db8::2')
  assert.equal([harness.reservationsOf(), harness.cloud.released], [['res-1', 'res-2'], []])
})

test('a CRD that drops the family leads to no order', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.alone('a')
  const { records } = process.deps
  const create = records.create.bind(records)
  records.create = (record, options) => {
    const kept = structuredClone(record)
    delete kept.spec.ipFamily
    return create(kept, options)
  }
  assert.match(verdict(await process.claim(six)), /^refused: .* does not keep spec\.ipFamily: IPv6.*doctor/)
  assert.equal([harness.cloud.calls.reserve, harness.record()], [0, undefined])
})

test.run()
