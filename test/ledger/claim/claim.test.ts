import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ReservationRequest } from '../../../clouds/ports/cloud.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { isConflict } from '../../../kube/errors.ts'
import { type ClaimDeps, claims } from '../../../ledger/claim/claim.ts'
import { haltMemory, ledgerMap } from '../../../ledger/identity/ledger-map.ts'
import type { ClaimResult } from '../../../ledger/claim/claim-spec.ts'
import { type ElasticIP, elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { serviceMarks } from '../../../ledger/record/marks.ts'
import { forRequest } from '../../../lib/request-id.ts'
import { makeRecord, makeReservation } from '../../builders.ts'
import type { HeardCall } from '../../fakes/interposed.ts'
import { makeHarness, neverAborted, scheme, timeoutMs } from '../harness.ts'

const marks = serviceMarks(scheme, 'default/web')
const crowd = (size: number) => Array.from<unknown>({ length: size })
const patient = () => [{ wait: true }, AbortSignal.timeout(60_000)] as const
const addresses = (claimed: ClaimResult[]) =>
  claimed.map((one) => (one.kind === 'held' ? one.address : one.kind)).join()

const requestReason = (record: ElasticIP | undefined) =>
  record?.status?.conditions?.find(({ type }) => type === 'Accepted')?.reason

test('after the adoption mark a new record needs one reserve and no list', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const claimed = await harness.process('a').claim()
  assert.equal([claimed.kind, claimed.kind === 'held' && claimed.address], ['held', '203.0.113.1'])
  assert.equal(harness.cloud.calls, { reserve: 1, reservations: 0, reservation: 0, release: 0 })
  assert.is(harness.record()?.status?.phase, 'Reserved')
  assert.is(harness.record()?.status?.reservationID, 'res-1')
  assert.is(harness.record()?.status?.requestInFlight, undefined)
})

test('a claim reads the halt and the adoption mark at the same time, and their ConfigMap once', async () => {
  const both = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
  const started = (own: number) => {
    both[own]?.resolve()
    return Promise.all(both.map(({ promise }) => promise))
  }
  const process = claims({
    haltReason: () => started(0).then(() => 'another cluster uses the id'),
    isAdopted: () => started(1).then(() => true),
    records: { get: () => Promise.resolve(undefined) },
    monotonicMs: () => 0,
  } as unknown as ClaimDeps)
  const wanted = { key: 'default/web', location: 'da', family: 'ipv4', reclaim: 'Delete', wait: false } as const
  assert.equal(await process.claim(wanted, AbortSignal.timeout(60_000)), {
    kind: 'pending',
    reason: 'another cluster uses the id',
  })

  let reads = 0
  const client = { get: () => Promise.resolve(void (reads += 1)) } as unknown as KubeClient
  const at = { namespace: 'eip', name: 'ledger' }
  const halt = haltMemory({ cluster: 'cluster-1', at })
  const map = ledgerMap({ client, ...at, halt, monotonicMs: () => 0 })
  const { signal } = new AbortController()
  await Promise.all([map.recent(signal), map.recent(signal)])
  assert.is(reads, 1)
})

test('a claim need not read what the process prefetched', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  let reads = 0
  const before = ({ verb, values: [resource] }: HeardCall) => {
    if (verb === 'get' && (resource as { plural: string }).plural === 'configmaps') reads += 1
  }
  const process = harness.process('a', { kube: { before } })
  await process.claims.readAhead(neverAborted)
  assert.is(reads, 1)
  assert.is((await process.claim()).kind, 'held')
  assert.is(reads, 1)
})

test('a failed prefetch proves nothing, and the claim reads again', async () => {
  const failing = () => Promise.reject(new Error('no API server'))
  const process = claims({ haltReason: failing, isAdopted: failing, monotonicMs: () => 0 } as unknown as ClaimDeps)
  await process.readAhead(neverAborted)
  const wanted = { key: 'default/web', location: 'da', family: 'ipv4', reclaim: 'Delete', wait: false } as const
  const [claimed] = await Promise.allSettled([process.claim(wanted, AbortSignal.timeout(60_000))])
  assert.match(String(claimed.status === 'rejected' && claimed.reason), 'no API server')
})

test('before the adoption mark a claim lists reservations before it reserves', async () => {
  const harness = makeHarness()
  assert.is((await harness.process('a').claim()).kind, 'held')
  assert.equal(harness.cloud.calls, { reserve: 1, reservations: 1, reservation: 0, release: 0 })
})

test("a reservation that carries the Service's marks is used", async () => {
  const harness = makeHarness()
  harness.cloud.put(makeReservation({ id: 'res-9', address: '203.0.113.9', marks }))
  const claimed = await harness.process('a').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.9')
  assert.is(harness.cloud.calls.reserve, 0)
})

test("of several reservations with the Service's marks the oldest is used, but none that was denied", async () => {
  const harness = makeHarness()
  harness.cloud.put(makeReservation({ id: 'res-6', marks, state: 'denied', createdAt: '2026-01-30T00:00:00Z' }))
  harness.cloud.put(makeReservation({ id: 'res-7', marks: serviceMarks(scheme, 'default/other') }))
  harness.cloud.put(makeReservation({ id: 'res-8', marks, createdAt: '2026-01-31T08:30:00Z' }))
  harness.cloud.put(makeReservation({ id: 'res-9', marks, createdAt: '2026-01-31T08:00:00Z' }))
  await harness.process('a').claim()
  assert.is(harness.record()?.status?.reservationID, 'res-9')
})

test('a Service that has an address gets it again, without a call to the provider', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  await harness.process('a').claim()
  const claimed = await harness.process('b').claim({ wait: true })
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(harness.cloud.calls.reserve, 1)
})

for (const adopted of [true, false]) {
  const when = adopted ? '' : ' before the first sweep'
  test(`fifty claims of one Service at once reserve one address${when}`, async () => {
    const harness = makeHarness()
    if (adopted) harness.setAdoptionMark()
    const process = harness.process('a')
    const claimed = await Promise.all(crowd(50).map(() => process.claim(...patient())))
    assert.is(addresses(claimed), crowd(50).fill('203.0.113.1').join())
    assert.is(harness.cloud.calls.reserve, 1)
  })

  test(`fifty-one claims of one Service from three processes reserve one address${when}`, async () => {
    const harness = makeHarness()
    if (adopted) harness.setAdoptionMark()
    const slow = { before: () => sleep(Math.random() * 20) }
    const processes = ['a', 'b', 'c'].map((identity) => harness.process(identity, { kube: slow, cloud: slow }))
    const crowds = processes.map((process) => Promise.all(crowd(17).map(() => process.claim(...patient()))))
    assert.is(addresses((await Promise.all(crowds)).flat()), crowd(51).fill('203.0.113.1').join())
    assert.is(harness.cloud.calls.reserve, 1)
  })
}

test('a claim between the creation of the record and its request waits for the result', async () => {
  const harness = makeHarness()
  const reading = Promise.withResolvers<void>()
  const slowMark = {
    after: ({ verb, values }: { verb: string; values: unknown[] }) =>
      isMark(verb, values) ? reading.promise : undefined,
  }
  const process = harness.process('a', { kube: slowMark })
  const first = process.claim()
  await sleep(5)
  const second = process.claim({ wait: true }, AbortSignal.timeout(60_000))
  await sleep(20)
  reading.resolve()
  assert.equal([(await first).kind, (await second).kind], ['held', 'held'])
  assert.is(harness.cloud.calls.reserve, 1)
})

test('the attempts for one record are one order, whichever process sends them', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const orders: unknown[] = []
  const cloud = {
    before: ({ verb, values: [request] }: HeardCall) =>
      void (verb === 'reserve' && orders.push((request as ReservationRequest).order)),
  }
  harness.cloud.fates = ['unsaid']
  await harness.process('a', { cloud }).claim()
  const b = harness.process('b', { cloud })
  await b.claim()
  harness.advance(timeoutMs)
  await b.claim()
  const { uid } = harness.record()?.metadata ?? {}
  assert.equal(orders, [uid, uid])
})

test('a late answer to the creation of the record does not lead to a second reserve', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const late = Promise.withResolvers<void>()
  let creations = 0
  const slowCreate = {
    after: ({ verb }: { verb: string }) => (verb === 'create' && ++creations === 1 ? late.promise : undefined),
  }
  const process = harness.process('a', { kube: slowCreate })
  const first = process.claim()
  await sleep(5)
  const second = process.claim({ wait: true }, AbortSignal.timeout(60_000))
  await sleep(20)
  late.resolve()
  assert.equal([(await first).kind, (await second).kind], ['held', 'held'])
  assert.is(harness.cloud.calls.reserve, 1)
})

test('while another process works on the record, a claim that does not wait is busy at once', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const answer = Promise.withResolvers<void>()
  const slow = harness.process('a', { cloud: { before: () => answer.promise } }).claim()
  await sleep(5)
  assert.is((await harness.process('b').claim()).kind, 'busy')
  answer.resolve()
  assert.is((await slow).kind, 'held')
})

test('a claim that waits gets the address that another process reserves', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const slow = harness.process('a', { cloud: { before: () => sleep(50) } }).claim()
  await sleep(5)
  const waited = await harness.process('b').claim({ wait: true }, AbortSignal.timeout(60_000))
  assert.is(waited.kind === 'held' && waited.address, '203.0.113.1')
  await slow
  assert.is(harness.cloud.calls.reserve, 1)
})

test('at its deadline a claim is busy, and the reservation still reaches the record', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const answer = Promise.withResolvers<void>()
  const process = harness.process('a', { cloud: { after: () => answer.promise } })
  const deadline = new AbortController()
  const claiming = process.claim({ wait: true }, deadline.signal)
  await sleep(5)
  deadline.abort()
  // The next look would be later still.
  const claimed = await Promise.race([claiming, sleep(50)])
  assert.is(claimed?.kind, 'busy', 'it answers at its deadline, not a look later')
  assert.is(harness.record()?.status, undefined)
  answer.resolve()
  await process.claims.idle()
  assert.is(harness.record()?.status?.address, '203.0.113.1')
  assert.is((await process.claim()).kind, 'held')
  assert.is(harness.cloud.calls.reserve, 1)
})

test('a controller that stops does not wait for the provider, and the reservation still reaches the record', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const answer = Promise.withResolvers<void>()
  const process = harness.process('a', { cloud: { after: () => answer.promise } })
  const leader = new AbortController()
  const claiming = process.claim({ wait: false }, leader.signal).catch((error: unknown) => String(error))
  await sleep(5)
  leader.abort('the process stops')
  assert.is(await Promise.race([claiming, sleep(50)]), 'the process stops')
  let isIdle = false
  const idle = process.claims.idle().then(() => (isIdle = true))
  await sleep(5)
  assert.not(isIdle, 'the process does not end before')
  answer.resolve()
  await idle
  assert.is(harness.record()?.status?.address, '203.0.113.1')
  assert.is(harness.cloud.calls.reserve, 1)
})

for (const fault of ['quota', 'auth', 'invalid'] as const) {
  test(`a refusal (${fault}) carries the provider's words, and no new record stays`, async () => {
    const harness = makeHarness()
    harness.setAdoptionMark()
    harness.cloud.fates.push(fault)
    const claimed = await harness.process('a').claim()
    assert.is(claimed.kind === 'refused' && claimed.reason, `the scripted cloud says ${fault}`)
    assert.is(harness.record(), undefined)
  })
}

test('while a leader has not swept yet, refused creates leave no record that counts against a limit', async () => {
  const harness = makeHarness()
  const process = harness.process('a', { limits: { cluster: 2, namespace: 2 } })
  for (const key of ['default/a', 'default/b', 'default/c']) {
    harness.cloud.fates.push('quota')
    assert.is((await process.claim({ key })).kind, 'refused')
    assert.is(harness.record(key), undefined)
  }
  for (const key of ['default/d', 'default/e']) assert.is((await process.claim({ key })).kind, 'held')
  assert.is((await process.claim({ key: 'default/f' })).kind, 'refused')
  assert.is(harness.record('default/f'), undefined)
})

test('after a refusal an older record stays, and the next claim may send a request at once', async () => {
  const harness = makeHarness()
  harness.cloud.fates.push('quota')
  harness.api.put(elasticIPs, makeRecord({ phase: 'Requested' }))
  const process = harness.process('a')
  assert.is((await process.claim()).kind, 'refused')
  assert.is(harness.record()?.status?.message, 'the scripted cloud says quota')
  assert.is(requestReason(harness.record()), 'QuotaUsedUp')
  assert.is((await harness.process('b').claim()).kind, 'held')
})

test('a claim shares the request of a newer record, though the claim of the removed one ended after it began', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('quota')
  const [removed, granted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let reserves = 0
  const kube = { after: ({ verb }: HeardCall) => (verb === 'remove' ? removed.promise : undefined) }
  const cloud = {
    before: ({ verb }: HeardCall) => (verb === 'reserve' && ++reserves === 2 ? granted.promise : undefined),
  }
  const process = harness.process('a', { kube, cloud })
  const first = process.claim()
  await sleep(5)
  const second = process.claim()
  await sleep(5)
  removed.resolve()
  assert.is((await first).kind, 'refused')
  const third = process.claim()
  await sleep(5)
  granted.resolve()
  assert.equal([(await second).kind, (await third).kind, reserves], ['held', 'held', 2])
})

for (const [fault, reason] of [
  ['rate-limit', 'RateLimited'],
  ['conflict', 'Conflict'],
  ['unavailable', 'Unavailable'],
] as const) {
  test(`after a temporary fault (${fault}) a claim is pending, and the next claim may send a request at once`, async () => {
    const harness = makeHarness()
    harness.setAdoptionMark()
    harness.cloud.fates.push(fault)
    assert.is((await harness.process('a').claim()).kind, 'pending')
    assert.is(harness.record()?.status?.message, `the scripted cloud says ${fault}`)
    assert.is(requestReason(harness.record()), reason)
    assert.is((await harness.process('b').claim()).kind, 'held')
    assert.is(requestReason(harness.record()), 'Granted')
    assert.is(harness.reservationsOf().length, 1)
  })
}

test('a claim that cannot list reservations does not reserve', async () => {
  const harness = makeHarness()
  harness.cloud.unreadable = true
  assert.is((await harness.process('a').claim()).kind, 'pending')
  assert.is(harness.cloud.calls.reserve, 0)
})

test('a claim is pending until the provider grants the address', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('requested')
  const process = harness.process('a')
  assert.is((await process.claim()).kind, 'pending')
  assert.is((await process.claim()).kind, 'pending')
  harness.cloud.grant('res-1')
  const claimed = await harness.process('b').claim()
  assert.is(claimed.kind === 'held' && claimed.address, '203.0.113.1')
  assert.is(harness.cloud.calls.reserve, 1)
})

test('a denied reservation is deleted, its claim is refused, and the next claim reserves again', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('requested')
  const process = harness.process('a')
  await process.claim()
  harness.cloud.deny('res-1')
  assert.is((await process.claim()).kind, 'refused')
  assert.equal(harness.reservationsOf(), [])
  assert.is((await process.claim()).kind, 'held')
  assert.equal(harness.reservationsOf(), ['res-2'])
})

test('a reservation that a read by id does not show yet is found by its marks, not made twice', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  harness.cloud.fates.push('requested')
  const process = harness.process('a')
  await process.claim()
  harness.cloud.idsLate = true
  assert.is((await process.claim()).kind, 'pending')
  assert.is(harness.cloud.calls.reserve, 1)
})

test('an address without a stored Service is held by a write each time: no release that read its record before continues', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  await harness.process('a').claim({ wait: true })
  for (const request of ['second', 'third']) {
    const claimed = { kind: 'busy' }
    const claimMeanwhile = async ({ verb }: HeardCall) => {
      if (verb !== 'replace' || claimed.kind !== 'busy') return
      claimed.kind = 'running'
      claimed.kind = (await forRequest(request, () => harness.process('b').claim({ wait: true }))).kind
    }
    const releaser = harness.process('c', { kube: { before: claimMeanwhile } })
    assert.ok(isConflict(await releaser.release().catch((error: unknown) => error)))
    assert.equal([claimed.kind, harness.record()?.status?.phase], ['held', 'Reserved'])
    assert.is(harness.record()?.metadata.annotations?.['eip-admission.dev/request-id'], request)
  }
  assert.equal(harness.reservationsOf(), ['res-1'])
})

test('a claim of a controller holds the address without a write: its Service is stored', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  await harness.process('a').claim({ wait: true })
  const before = harness.record()
  assert.is((await harness.process('b').claim()).kind, 'held')
  assert.equal(harness.record(), before)
})

function isMark(verb: string, [resource]: unknown[]): boolean {
  return verb === 'get' && (resource as { kind: string }).kind === 'ConfigMap'
}

test.run()
