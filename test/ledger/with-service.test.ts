// The ledger and the Service controller together, one reconcile at a time.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CloudError } from '../../clouds/ports/cloud.ts'
import { type Service, keyOf } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { bind } from '../../ledger/claim/stored-record.ts'
import { type ElasticIP, elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { serviceMarks } from '../../ledger/record/marks.ts'
import { addressAnnotation, serviceFinalizer } from '../../ledger/record/names.ts'
import { retain } from '../../ledger/release/release.ts'
import { makeReservation, makeService } from '../builders.ts'
import type { HeardCall } from '../fakes/interposed.ts'
import { graceMs, makeHarness, neverAborted, scheme, type Process, timeoutMs, type Harness } from './harness.ts'

const key = 'default/web'

async function retained(): Promise<{ harness: Harness; a: Process }> {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const a = harness.alone('a')
  await a.claim({ reclaim: 'Retain' })
  await bind(a.deps, { record: harness.record() as ElasticIP, uid: 'uid-0' }, neverAborted)
  await retain(a.deps, harness.record() as ElasticIP, neverAborted)
  harness.advance(30 * 24 * 3_600_000)
  return { harness, a }
}

/** Stores the Service as admission patched it: with its finalizer and the address. */
function store(harness: Harness, address: string): void {
  const annotations = { [addressAnnotation]: address }
  harness.addService(makeService({ finalizers: [serviceFinalizer], annotations, loadBalancerIP: address }))
}

const shown = (harness: Harness) => {
  const service: Service | undefined = harness.api.stored(services).find((one) => keyOf(one) === key)
  return [service?.spec.loadBalancerIP, service?.status?.loadBalancer?.ingress?.[0]?.ip]
}

test('an address retained for a month is not released while its new Service is about to be stored', async () => {
  const { harness, a } = await retained()
  await a.claim({ reclaim: 'Retain' })
  await a.reconcile(key)
  assert.is(harness.record()?.status?.phase, 'Reserved')
  store(harness, '203.0.113.1')
  await a.reconcile(key)
  assert.is(harness.record()?.status?.phase, 'Bound')
  assert.equal(harness.reservationsOf(), ['res-1'])
})

test('a retained address stays retained when the Service that claimed it is never stored', async () => {
  const { harness, a } = await retained()
  await a.claim({ reclaim: 'Retain' })
  await a.reconcile(key)
  harness.advance(graceMs + 1_000)
  await a.reconcile(key)
  assert.is(harness.record()?.status?.phase, 'Released')
  assert.equal(harness.reservationsOf(), ['res-1'])
})

test('a retained address is released when a user deletes its record and no Service claims it first', async () => {
  const { harness, a } = await retained()
  await harness.api.client.remove(elasticIPs, { name: 'default.web' })
  await a.reconcile(key)
  assert.equal([harness.reservationsOf(), harness.record()], [[], undefined])
})

test('a live Service always shows its address while a record without its status finds it again', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const statuses: unknown[] = []
  const patched = ({ verb, values: [resource] }: HeardCall) => {
    if (verb === 'patch' && resource === services) statuses.push(shown(harness))
  }
  const a = harness.alone('a', { kube: { before: patched, after: patched } })
  const claimed = await a.claim()
  store(harness, (claimed.kind === 'held' && claimed.address) || '')
  await a.reconcile(key)
  const settled = ['203.0.113.1', '203.0.113.1']
  assert.equal(shown(harness), settled)
  const { status: _lost, ...restored } = harness.record() as ElasticIP
  harness.api.drop(elasticIPs, { name: 'default.web' })
  harness.api.put(elasticIPs, restored)
  statuses.length = 0
  await a.reconcile(key)
  harness.advance(timeoutMs + 1_000)
  await a.reconcile(key)
  assert.equal([harness.record()?.status?.phase, shown(harness)], ['Bound', settled])
  assert.equal(
    statuses.filter((one) => JSON.stringify(one) !== JSON.stringify(settled)),
    [],
  )
})

for (const { name, fails, status } of [
  { name: 'no longer shows an address that the provider does not have', fails: false, status: undefined },
  { name: 'shows its address while the provider cannot be searched', fails: true, status: '203.0.113.1' },
]) {
  test(`a live Service whose record is lost and whose claim is refused ${name}`, async () => {
    const harness = makeHarness()
    harness.setAdoptionMark()
    const settled = harness.alone('a')
    const claimed = await settled.claim()
    store(harness, (claimed.kind === 'held' && claimed.address) || '')
    await settled.reconcile(key)
    const { status: _lost, ...restored } = harness.record() as ElasticIP
    harness.api.drop(elasticIPs, { name: 'default.web' })
    harness.api.put(elasticIPs, restored)
    await harness.cloud.cloud.release({ id: 'res-1', marks: {} }, neverAborted)
    const refused = new CloudError('the key is revoked', { fault: 'auth', outcome: 'nothing' })
    if (fails) harness.cloud.cloud.reservations = () => Promise.reject(refused)
    const limited = harness.alone('b', { limits: { cluster: 0, namespace: undefined } })
    for (let n = 0; n < 4; n += 1) {
      harness.advance(timeoutMs + 1_000)
      await limited.reconcile(key).catch(() => undefined)
    }
    assert.is(shown(harness)[1], status)
  })
}

for (const phase of ['Requested', 'Released'] as const) {
  test(`a Service whose record a user deleted (${phase}) still gets an address`, async () => {
    const { harness, a } = await retained()
    if (phase === 'Requested') {
      await a.release()
      harness.cloud.fates.push('unavailable')
      await a.claim()
    }
    assert.is(harness.record()?.status?.phase, phase)
    await harness.api.client.remove(elasticIPs, { name: 'default.web' })
    harness.addService(makeService())
    await a.reconcile(key)
    assert.is(harness.record()?.status?.phase, 'Bound')
    assert.is(harness.reservationsOf().length, 1)
  })
}

test('a Service that is stored with an address that was just released gets and shows another one', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const a = harness.alone('a')
  const claimed = await a.claim()
  await a.reconcile(key)
  harness.advance(graceMs + 1_000)
  await a.reconcile(key)
  assert.equal(harness.reservationsOf(), [])
  store(harness, claimed.kind === 'held' ? claimed.address : 'none')
  await a.reconcile(key)
  assert.equal(harness.reservationsOf(), ['res-2'])
  assert.equal(shown(harness), ['203.0.113.2', '203.0.113.2'])
})

for (const isReviewed of [true, false])
  test(`a Service that opts out ${isReviewed ? '' : 'unreviewed '}is not said to have lost its address`, async () => {
    const events: string[] = []
    const harness = makeHarness()
    harness.setAdoptionMark()
    const a = harness.alone('a', { events, policy: { managedAnnotation: 'example.com/managed' } })
    const claimed = await a.claim()
    const address = claimed.kind === 'held' ? claimed.address : 'none'
    store(harness, address)
    await a.reconcile(key)
    assert.equal(shown(harness), [address, address])
    const annotations = { 'example.com/managed': 'false', ...(isReviewed && { [addressAnnotation]: null }) }
    const merge = { metadata: { annotations }, ...(isReviewed && { spec: { loadBalancerIP: null } }) }
    await harness.api.client.patch(services, { namespace: 'default', name: 'web', patch: { merge } })
    await a.reconcile(key)
    assert.equal([shown(harness)[1], harness.reservationsOf()], [undefined, []])
    assert.equal(
      events.filter((event) => event.startsWith('Warning')),
      [],
    )
    assert.ok(events.includes('Normal Deleting load balancer'))
  })

test('an address that is granted after its Service was deleted is released', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const answer = Promise.withResolvers<void>()
  const slow = harness.alone('slow', { cloud: { before: () => answer.promise } })
  const claiming = slow.claim({ wait: true }, AbortSignal.timeout(20))
  assert.is((await claiming).kind, 'busy')
  harness.addService(makeService({ finalizers: [serviceFinalizer] }))
  await harness.api.client.remove(services, { namespace: 'default', name: 'web' })
  const a = harness.alone('a')
  assert.equal(await a.reconcile(key), { againInMs: 5_000 })
  answer.resolve()
  await slow.claims.idle()
  await a.reconcile(key)
  assert.equal([harness.reservationsOf(), harness.record(), harness.api.stored(services)], [[], undefined, []])
})

test('a Service asks for a pending address soon at first, and finally once a minute', async () => {
  const harness = makeHarness()
  const a = harness.alone('a')
  harness.setAdoptionMark()
  harness.addService(makeService({ finalizers: [serviceFinalizer] }))
  harness.cloud.fates.push('requested')
  const asked: (number | undefined)[] = []
  for (let round = 0; round < 12; round += 1) {
    const { againInMs } = await a.reconcile(key)
    asked.push(againInMs)
    harness.advance(againInMs ?? 0)
  }
  assert.equal(asked.slice(0, 4), [5_000, 5_000, 5_000, 7_500])
  assert.is(asked.at(-1), 60_000)
  harness.cloud.grant('res-1')
  await a.reconcile(key)
  assert.equal(shown(harness), ['203.0.113.1', '203.0.113.1'])
})

const tooMany = (retryAfterMs: number) =>
  new CloudError('429: slowly', { fault: 'rate-limit', outcome: 'nothing', retryAfterMs })

for (const { retryAfterMs, againInMs } of [
  { retryAfterMs: 90_000, againInMs: 90_000 },
  { retryAfterMs: 86_400_000, againInMs: 600_000 },
])
  test(`a Service asks again after ${againInMs} ms if the provider asks for ${retryAfterMs} ms`, async () => {
    const harness = makeHarness()
    const a = harness.alone('a')
    harness.setAdoptionMark()
    harness.addService(makeService({ finalizers: [serviceFinalizer] }))
    harness.cloud.cloud.reserve = () => Promise.reject(tooMany(retryAfterMs))
    assert.is((await a.reconcile(key)).againInMs, againInMs)
  })

for (const { name, error } of [
  { name: 'its quota is used up', error: { fault: 'quota' } },
  { name: 'its token has no rights', error: { fault: 'auth' } },
  { name: 'it had too many calls', error: { fault: 'rate-limit', retryAfterMs: 60_000 } },
] as const)
  test(`fifty edits of a Service that the provider refuses because ${name} are one order`, async () => {
    const harness = makeHarness()
    const a = harness.alone('a')
    harness.setAdoptionMark()
    const edited = (n: number) => makeService({ finalizers: [serviceFinalizer], labels: { edit: `${n}` } })
    let orders = 0
    harness.cloud.cloud.reserve = () => {
      orders += 1
      return Promise.reject(new CloudError('refused', { outcome: 'nothing', ...error }))
    }
    for (let n = 0; n < 50; n += 1) {
      harness.addService(edited(n))
      await a.reconcile(key).catch(() => {})
    }
    assert.is(orders, 1)
    // An update that is reviewed meanwhile gets the answer that the cloud has given.
    const { kind } = await a.claim({ uid: edited(0).metadata.uid, wait: true })
    assert.equal([kind, orders], [error.fault === 'rate-limit' ? 'pending' : 'refused', 1])
    harness.advance(60_000)
    await a.reconcile(key).catch(() => {})
    assert.is(orders, 2)
  })

test('a Service that got its pending address from a sweep, and lost it later, soon asks for another one', async () => {
  const harness = makeHarness()
  const a = harness.alone('a')
  harness.setAdoptionMark()
  harness.addService(makeService({ finalizers: [serviceFinalizer] }))
  harness.cloud.cloud.reserve = () => Promise.reject(tooMany(0))
  await a.reconcile(key)
  harness.advance(600_000)
  assert.is((await a.reconcile(key)).againInMs, 60_000)
  harness.cloud.put(makeReservation({ id: 'res-8', address: '203.0.113.8', marks: serviceMarks(scheme, key) }))
  await a.sweep(neverAborted)
  await a.reconcile(key)
  assert.equal(shown(harness), ['203.0.113.8', '203.0.113.8'])
  await harness.cloud.cloud.release({ id: 'res-8', marks: {} }, neverAborted)
  for (let n = 0; n < 2; n += 1) await a.sweep(neverAborted)
  assert.is((await a.reconcile(key)).againInMs, 5_000)
})

test.run()
