// Addresses that are to be retained, where their records or parts of them are lost.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { empty } from '../../announcers/empty.ts'
import { KubeError } from '../../kube/errors.ts'
import type { Service } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { type ElasticIP, elasticIPs } from '../../ledger/record/elastic-ip.ts'
import { isRetained } from '../../ledger/record/marks.ts'
import { protectAnnotation, reclaimAnnotation, serviceFinalizer } from '../../ledger/record/names.ts'
import { makeLot, makeRecord, makeService } from '../builders.ts'
import type { HeardCall } from '../fakes/interposed.ts'
import {
  graceMs,
  type Harness,
  makeHarness,
  neverAborted,
  type Process,
  type ProcessOptions,
  scheme,
  timeoutMs,
  usualPolicy,
} from './harness.ts'

const key = 'default/web'
const [namespace, name] = ['default', 'web']

/** A Service that has its address, and a process that serves it. */
async function settled(options: ProcessOptions = {}) {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const a = harness.alone('a', options)
  harness.addService(makeService({ finalizers: [serviceFinalizer] }))
  await a.reconcile(key)
  assert.is(harness.record()?.status?.phase, 'Bound')
  return { harness, a }
}

/** A record from a backup that keeps no status. */
function loseStatus(harness: Harness): void {
  const { status: _lost, ...restored } = harness.record() as ElasticIP
  harness.api.drop(elasticIPs, { name: 'default.web' })
  harness.api.put(elasticIPs, restored)
}

/** Lets the requests end that a record may have in flight, and then its grace period. */
async function settle(harness: Harness, a: Process): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await a.reconcile(key)
    harness.advance(graceMs + timeoutMs)
  }
}

async function annotate(harness: Harness, annotations: Record<string, string>): Promise<void> {
  await harness.api.client.patch(services, { namespace, name, patch: { merge: { metadata: { annotations } } } })
}

const found = (harness: Harness) => {
  const { status, spec } = harness.record() ?? {}
  return [status?.phase, status?.address, spec?.reclaimPolicy, harness.reservationsOf(), harness.api.stored(services)]
}
/** Software that announces an address until its Service is gone. */
const lasting = {
  ...empty({ ipAnnotation: 'example.com/ip' }),
  withdrawsOnlyOnDeletion: { restoring: () => undefined, afterReturn: 'it does. Restart it' },
}

const kept = ['Released', '203.0.113.1', 'Retain', ['res-1'], []]

for (const [what, annotations] of [
  ['is protected', { [protectAnnotation]: 'true' }],
  ['asks for that later than its record knows', { [reclaimAnnotation]: 'Retain' }],
] as const) {
  test(`an address whose record lost its status is retained when its Service ${what}`, async () => {
    const { harness, a } = await settled()
    await annotate(harness, annotations)
    loseStatus(harness)
    await harness.api.client.remove(services, { namespace, name })
    await settle(harness, a)
    assert.equal(found(harness), kept)
  })

  test(`the same where the software withdraws only when the Service that ${what} no longer exists`, async () => {
    const { harness, a } = await settled({ announcer: lasting })
    await annotate(harness, annotations)
    loseStatus(harness)
    await harness.api.client.remove(services, { namespace, name })
    await settle(harness, a)
    assert.equal(found(harness), kept)
  })
}

/** Records that are gone, as after their definition was removed, and a Service that goes meanwhile. */
async function unrecorded(annotations: Record<string, string>, options: ProcessOptions = {}) {
  const stage = await settled(options)
  await annotate(stage.harness, annotations)
  stage.harness.api.drop(elasticIPs, { name: 'default.web' })
  await stage.harness.api.client.remove(services, { namespace, name })
  return stage
}

for (const [what, annotations, options] of [
  ['is protected', { [protectAnnotation]: 'true' }, {}],
  ['asks for that', { [reclaimAnnotation]: 'Retain' }, {}],
  ['goes before its address is withdrawn', { [reclaimAnnotation]: 'Retain' }, { announcer: lasting }],
] as const) {
  test(`an address without a record is retained when its Service ${what}`, async () => {
    const { harness, a } = await unrecorded(annotations, options)
    await settle(harness, a)
    assert.equal(found(harness), kept)
    for (let sweeps = 0; sweeps < 4; sweeps += 1) {
      await a.sweep(neverAborted)
      harness.advance(graceMs)
    }
    assert.equal(found(harness), kept)
  })
}

test('a Service whose reservation cannot be adopted is deleted, and the marks retain the address', async () => {
  let isFirst = false
  const before = ({ verb, values: [resource] }: HeardCall) => {
    if (verb === 'create' && resource === elasticIPs && isFirst)
      throw new KubeError('another process was first', { status: 409, reason: 'AlreadyExists' })
  }
  const { harness, a } = await unrecorded({ [reclaimAnnotation]: 'Retain' }, { kube: { before } })
  isFirst = true
  await settle(harness, a)
  assert.equal([harness.api.stored(services), harness.api.stored(elasticIPs)], [[], []])
  assert.equal(
    harness.cloud.reserved().map(({ id, marks }) => [id, isRetained(marks)]),
    [['res-1', true]],
  )
})

test('both addresses of a Service without a record are retained', async () => {
  const harness = makeHarness({ scheme, sweepsUntagged: false, policy: { ...usualPolicy, isDualStack: true } })
  harness.setAdoptionMark()
  const a = harness.alone('a')
  const [first, second] = [key, `${key}.ipv6`]
  const families: Partial<Service['spec']> = { ipFamilyPolicy: 'RequireDualStack', ipFamilies: ['IPv4', 'IPv6'] }
  const annotations = { [reclaimAnnotation]: 'Retain' }
  harness.addService(makeService({ ...families, finalizers: [serviceFinalizer], annotations }))
  for (const one of [first, second, first]) await a.reconcile(one)
  for (const record of ['default.web', 'default.web.ipv6']) harness.api.drop(elasticIPs, { name: record })
  await harness.api.client.remove(services, { namespace, name })
  for (const one of [first, second, first]) await a.reconcile(one)
  assert.equal(
    [first, second].map((one) => [harness.record(one)?.status?.phase, harness.record(one)?.status?.address]),
    [
      ['Released', '203.0.113.1'],
      ['Released', '2001:db8::2'],
    ],
  )
  assert.equal(harness.api.stored(services), [])
})

test('an address without a record is no longer ours to retain when the provider has none: its Service goes', async () => {
  const { harness, a } = await unrecorded({ [reclaimAnnotation]: 'Retain' })
  await harness.cloud.cloud.release({ id: 'res-1', marks: {} }, neverAborted)
  const { reserve } = harness.cloud.calls
  await a.reconcile(key)
  assert.equal([harness.record(), harness.api.stored(services), harness.cloud.calls.reserve], [undefined, [], reserve])
})

test('a Service whose address is not retained is deleted without a look at the provider', async () => {
  const { harness, a } = await unrecorded({})
  const { reservations } = harness.cloud.calls
  await a.reconcile(key)
  assert.equal([harness.api.stored(services), harness.cloud.calls.reservations], [[], reservations])
})

test('a Service whose address must be retained waits while another project answers', async () => {
  const { harness, a } = await unrecorded({ [reclaimAnnotation]: 'Retain' })
  harness.setProject()
  const other = harness.alone('b', { account: { project: 'project-2', cloud: harness.cloud } })
  const [outcome] = await Promise.allSettled([other.reconcile(key)])
  assert.match(
    String(outcome.status === 'rejected' && outcome.reason),
    'its address is not retained yet: another project',
  )
  assert.is(harness.api.stored(services).length, 1)
  await a.reconcile(key)
  assert.equal(found(harness), kept)
})

test('a reservation that an ElasticIP has by now does not block the deletion of a Service', async () => {
  const { harness, a } = await unrecorded({ [reclaimAnnotation]: 'Retain' })
  const moved = { ...makeRecord({ phase: 'Available', address: '203.0.113.1', reservationID: 'res-1' }) }
  const office = {
    ...moved,
    metadata: { ...moved.metadata, name: 'office' },
    spec: { reclaimPolicy: 'Retain' as const },
  }
  harness.api.put(elasticIPs, office)
  await a.reconcile(key)
  assert.equal([harness.record(), harness.api.stored(services), harness.reservationsOf()], [undefined, [], ['res-1']])
})

const policyOf = (harness: Harness) => [harness.record()?.status?.address, harness.record()?.spec.reclaimPolicy]

async function setPolicy(harness: Harness, reclaimPolicy: 'Delete' | 'Retain'): Promise<void> {
  await harness.api.client.patch(elasticIPs, { name: 'default.web', patch: { merge: { spec: { reclaimPolicy } } } })
}

test('a claim that finds the address of a record keeps the policy that a person wrote into it', async () => {
  const { harness, a } = await settled()
  await setPolicy(harness, 'Retain')
  loseStatus(harness)
  await settle(harness, a)
  assert.equal(policyOf(harness), ['203.0.113.1', 'Retain'])
})

test('it also does for a retained address that the next Service of the name claims', async () => {
  const { harness, a } = await settled()
  await annotate(harness, { [reclaimAnnotation]: 'Retain' })
  await harness.api.client.remove(services, { namespace, name })
  await a.reconcile(key)
  assert.equal(found(harness), kept)
  loseStatus(harness)
  harness.addService(makeService({ finalizers: [serviceFinalizer] }))
  await settle(harness, a)
  assert.equal(policyOf(harness), ['203.0.113.1', 'Retain'])
})

/** The remains of a record after `cleanup`. */
function loseFinalizer(harness: Harness, name = 'default.web'): void {
  const [record] = harness.api.stored(elasticIPs).filter(({ metadata }) => metadata.name === name)
  const { finalizers: _lost, ...metadata } = record?.metadata ?? {}
  harness.api.put(elasticIPs, { ...record, metadata } as ElasticIP)
}

test('a record that cleanup left without our finalizer outlives its deletion while a Service has the address', async () => {
  const { harness, a } = await settled()
  await setPolicy(harness, 'Retain')
  loseFinalizer(harness)
  await a.reconcile(key)
  await harness.api.client.remove(elasticIPs, { name: 'default.web' })
  await a.reconcile(key)
  assert.equal(policyOf(harness), ['203.0.113.1', 'Retain'])
})

test('so does an ElasticIP that a Service requested by name', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const a = harness.alone('a')
  const { id } = await harness.cloud.cloud.reserve({ location: 'da', marks: {} }, neverAborted)
  harness.api.put(elasticIPs, makeLot('office', { reservationID: id, reclaimPolicy: 'Retain' }))
  await a.reconcileSource('office')
  harness.addService(makeService({ annotations: { 'eip-admission.dev/elastic-ip': 'office' } }))
  for (let round = 0; round < 2; round += 1) {
    await a.reconcile(key)
    await a.reconcileSource('office')
  }
  loseFinalizer(harness, 'office')
  await a.reconcileSource('office')
  await harness.api.client.remove(elasticIPs, { name: 'office' })
  await a.reconcileSource('office')
  assert.equal(
    harness.api
      .stored(elasticIPs)
      .map(({ metadata }) => metadata.name)
      .toSorted(),
    ['default.web', 'office'],
  )
})

/** The state after an uninstall: nothing of ours runs, and our finalizers are gone. */
function uninstall(harness: Harness): void {
  loseFinalizer(harness)
  const [{ metadata, ...service } = makeService()] = harness.api.stored(services)
  harness.addService({ ...service, metadata: { ...metadata, finalizers: [] } })
}

for (const { what, annotations, becomes } of [
  { what: 'a protected Service is retained', annotations: [{ [protectAnnotation]: 'true' }], becomes: kept },
  {
    what: 'a Service is released once it is protected no more',
    annotations: [{ [protectAnnotation]: 'true' }, { [protectAnnotation]: 'false' }],
    becomes: [undefined, undefined, undefined, [], []],
  },
]) {
  test(`the address of ${what}, although it went between an uninstall and the next install`, async () => {
    const { harness, a } = await settled()
    for (const one of annotations) {
      await annotate(harness, one)
      await a.reconcile(key)
    }
    uninstall(harness)
    await harness.api.client.remove(services, { namespace, name })
    await settle(harness, harness.alone('b'))
    assert.equal(found(harness), becomes)
  })
}

test.run()
