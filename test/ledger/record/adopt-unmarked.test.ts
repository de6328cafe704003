// The oldest predecessor marked its reservations without a cluster.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { services } from '../../../kube/resource.ts'
import { elasticIPs } from '../../../ledger/record/elastic-ip.ts'
import { adoptUnmarked, findReservation } from '../../../ledger/record/find-reservation.ts'
import { clusterMarks, commonMarks, namedCluster, ownerMarks, serviceMarks } from '../../../ledger/record/marks.ts'
import { addressAnnotation } from '../../../ledger/record/names.ts'
import type { Records } from '../../../ledger/record/records.ts'
import { planSweep } from '../../../ledger/sweep/sweep-plan.ts'
import type { Want } from '../../../ledger/want/want.ts'
import { makeLot, makeRecord, makeReservation, makeService } from '../../builders.ts'
import { scriptedCloud } from '../../fakes/scripted-cloud.ts'
import { graceMs, makeHarness, neverAborted } from '../harness.ts'
import type { MarkScheme } from '../../../clouds/ports/cloud.ts'

const scheme: MarkScheme = {
  usage: 'packet-ccm-auto',
  separator: '/',
  otherSeparator: '.',
  cluster: 'cluster-1',
  adoptsUnmarked: true,
}
const { cluster, ...left } = serviceMarks(scheme, 'default/web')
const ofAnother = { ...left, cluster: 'cluster-2' }

/** As its README says, and as we wrote it at first. */
const dotted = { ...left, service: 'UPJGek7VIc+RMc/fCdD7m4cyb+P6HI16Z9KzX32QPsE=' }

test("the oldest dialect hashes a Service's name with a slash, and knows the one with a dot", () => {
  assert.is(left['service'], 'grOt6dAM0WQqTUIOZw1s2Y60hJou4P9m1mieZFyOsz8=')
  assert.equal(ownerMarks(scheme, 'default/web'), [left['service'], dotted.service])
  assert.is(cluster, 'cluster-1')
})

test('reservations that name another cluster are not ours, those that name none may be', () => {
  assert.equal(commonMarks(scheme), { usage: 'packet-ccm-auto' })
  assert.equal(
    [left, ofAnother, { ...left, cluster: 'cluster-1' }].map((marks) => namedCluster(scheme, marks)),
    ['none', 'other', 'ours'],
  )
  const { adoptsUnmarked: _not, ...strict } = scheme
  assert.equal(commonMarks(strict), clusterMarks(scheme))
  assert.is(namedCluster(strict, { ...ofAnother, usage: 'backup' }), 'none')
})

/** It shows the address that every reservation of a test has. */
const shown = makeService({ status: { loadBalancer: { ingress: [{ ip: makeReservation({}).address ?? '' }] } } })

async function inherited(...reservations: Parameters<typeof makeReservation>[0][]) {
  const cloud = scriptedCloud()
  for (const [n, facts] of reservations.entries()) cloud.put(makeReservation({ id: `res-${n}`, ...facts }))
  const possibleUsers = () =>
    Promise.resolve({ services: [shown], records: [], requestAnnotations: [], classes: ['none'] })
  const deps = { cloud: cloud.cloud, scheme, possibleUsers, sweepsUntagged: false }
  const found = await adoptUnmarked(deps, makeRecord(), neverAborted)
  return { found: found?.id, marked: cloud.marked, marks: cloud.reserved({}).map(({ marks }) => marks['cluster']) }
}

test("the Service's reservation without a cluster is found and marked with our cluster", async () => {
  assert.equal(await inherited({ marks: left }), { found: 'res-0', marked: ['res-0'], marks: ['cluster-1'] })
})

test('a reservation whose mark has a dot is found too, with and without a cluster', async () => {
  assert.equal(await inherited({ marks: dotted }), { found: 'res-0', marked: ['res-0'], marks: ['cluster-1'] })
  const cloud = scriptedCloud()
  cloud.put(makeReservation({ marks: { ...dotted, cluster: 'cluster-1' } }))
  const records = { get: () => Promise.resolve(undefined), list: () => Promise.resolve([]) } as unknown as Records
  const found = await findReservation(
    { cloud: cloud.cloud, scheme, records, sweepsUntagged: false },
    makeRecord(),
    neverAborted,
  )
  assert.is(found?.id, 'res-1')
})

test('of several reservations without a cluster the oldest is adopted, and the others stay as they are', async () => {
  const young = { marks: left, createdAt: '2026-01-31T09:00:00Z' }
  const { found, marks } = await inherited(young, { marks: left })
  assert.is(found, 'res-1')
  assert.equal(
    marks.filter((one) => one !== undefined),
    ['cluster-1'],
  )
})

test('a reservation of another cluster or Service, or a denied one, is not adopted', async () => {
  const other = serviceMarks(scheme, 'default/other')
  for (const facts of [{ marks: ofAnother }, { marks: other }, { marks: left, state: 'denied' as const }]) {
    const { found, marked } = await inherited(facts)
    assert.equal([found, marked], [undefined, []])
  }
})

test('where predecessors marked the cluster, unmarked reservations are not listed', async () => {
  const cloud = scriptedCloud()
  cloud.put(makeReservation({ marks: left }))
  const { adoptsUnmarked: _not, ...strict } = scheme
  const possibleUsers = () =>
    Promise.resolve({ services: [shown], records: [], requestAnnotations: [], classes: ['none'] })
  const deps = { cloud: cloud.cloud, scheme: strict, possibleUsers, sweepsUntagged: true }
  assert.is(await adoptUnmarked(deps, makeRecord(), neverAborted), undefined)
  assert.is(cloud.calls.reservations, 0)
})

const wanted: Want = { kind: 'reserve', location: 'da11', family: 'ipv4', reclaim: 'Delete', warnings: [] }
const base = {
  reservations: [makeReservation({ marks: left, address: '203.0.113.40' })],
  records: [],
  scheme,
  suspects: new Map([['res-1', Infinity]]),
  graceMs: 15 * 60_000,
  requestAnnotations: [],
  classes: ['none'],
  maxShare: 0.1,
  sweepsUntagged: false,
}
test('a sweep adopts a reservation whose mark has a dot, and only one of both forms', () => {
  const reservations = [makeReservation({ marks: dotted }), makeReservation({ id: 'res-2', marks: left })]
  const plan = planSweep({
    ...base,
    reservations,
    sweepsUntagged: true,
    services: [{ service: makeService(), wanted }],
  })
  assert.equal(
    plan.adopt.map(({ reservation }) => reservation.id),
    ['res-1'],
  )
})

const shows: [name: string, shown: string | undefined, adopted: number][] = [
  ['shows no address', undefined, 0],
  ['shows this address', '203.0.113.40', 1],
  ['shows another address', '192.0.2.9', 0],
]
for (const [name, loadBalancerIP, adopted] of shows) {
  test(`a sweep adopts ${adopted} reservations without a cluster for a Service that ${name}`, () => {
    const service = makeService(loadBalancerIP === undefined ? {} : { loadBalancerIP })
    const plan = planSweep({ ...base, services: [{ service, wanted }] })
    assert.equal([plan.adopt.length, plan.release, [...plan.suspects]], [adopted, [], []])
    assert.is(plan.untagged.length, loadBalancerIP === undefined ? 1 : 0)
  })
}

test('a sweep reports a reservation without a cluster whose Service no longer exists, and is complete without it', () => {
  const plan = planSweep({ ...base, services: [] })
  assert.equal([plan.adopt, plan.release, [...plan.suspects], plan.isComplete], [[], [], [], true])
  assert.equal(
    plan.untagged.map(({ id }) => id),
    ['res-1'],
  )
})

test('with --sweep-untagged it is an orphan; one whose Service shows another address is not', () => {
  const { release, untagged } = planSweep({ ...base, services: [], sweepsUntagged: true })
  assert.equal([release.map(({ id }) => id), untagged], [['res-1'], []])
  const service = makeService({ loadBalancerIP: '192.0.2.9' })
  const live = planSweep({ ...base, services: [{ service, wanted }], sweepsUntagged: true })
  assert.equal([live.adopt, live.release, [...live.suspects], live.untagged], [[], [], [], []])
})

test('a reservation that a Service does not show is not adopted, unless no other cluster uses the project', async () => {
  for (const sweepsUntagged of [false, true]) {
    const cloud = scriptedCloud()
    cloud.put(makeReservation({ marks: left }))
    const possibleUsers = () =>
      Promise.resolve({ services: [makeService()], records: [], requestAnnotations: [], classes: ['none'] })
    const deps = { cloud: cloud.cloud, scheme, possibleUsers, sweepsUntagged }
    const found = await adoptUnmarked(deps, makeRecord(), neverAborted)
    assert.equal([found?.id, cloud.marked], sweepsUntagged ? ['res-1', ['res-1']] : [undefined, []])
  }
})

test('a reservation that another ElasticIP has is not adopted, and keeps its marks', async () => {
  const harness = makeHarness({ scheme, sweepsUntagged: false })
  harness.cloud.put(makeReservation({ id: 'old', address, marks: left }))
  harness.api.put(elasticIPs, makeLot('office', { reservationID: 'old', reclaimPolicy: 'Retain' }))
  const process = harness.alone('a')
  await process.reconcileSource('office')
  harness.addService(makeService({ loadBalancerIP: address, annotations: { [addressAnnotation]: address } }))
  await Promise.allSettled([process.claim({ isShown: true })])
  assert.equal(harness.cloud.reserved()[0]?.marks, left)
  await process.client.remove(elasticIPs, { name: 'office' })
  await process.reconcileSource('office')
  assert.equal(harness.cloud.released, [], 'an operator provisioned it')
})

const address = '203.0.113.8'
const announced = { loadBalancerIP: address, status: { loadBalancer: { ingress: [{ ip: address }] } } }

/** A cluster that adopted the reservation which its Service shows. */
async function adoptedCluster(sweepsUntagged: boolean) {
  const harness = makeHarness({ scheme, sweepsUntagged })
  harness.cloud.put(makeReservation({ id: 'old', address, marks: left }))
  harness.addService(makeService(announced))
  const process = harness.process('a')
  await process.sweep(neverAborted)
  await process.reconcile('default/web')
  assert.is(harness.record()?.status?.phase, 'Bound')
  return { harness, process }
}
const sweepOften = async ({ harness, process }: Awaited<ReturnType<typeof adoptedCluster>>) => {
  for (let n = 0; n < 4; n += 1) {
    harness.advance(graceMs + 1_000)
    await process.sweep(neverAborted)
  }
}

test('an adopted reservation that named no cluster outlives its Service, as it was before', async () => {
  const { harness, process } = await adoptedCluster(false)
  assert.is(harness.cloud.reserved()[0]?.marks['cluster'], 'cluster-1')
  harness.api.drop(services, { namespace: 'default', name: 'web' })
  await process.release()
  assert.equal([harness.record(), harness.cloud.reserved()[0]?.marks], [undefined, left])
  await sweepOften({ harness, process })
  assert.equal(harness.cloud.released, [])
  await process.claim()
  assert.is(harness.record()?.status?.reservationID, 'res-1', 'the next Service of the name gets another one')
})

test('it outlives the loss of its record, too', async () => {
  const { harness, process } = await adoptedCluster(false)
  harness.api.drop(services, { namespace: 'default', name: 'web' })
  harness.api.drop(elasticIPs, { name: 'default.web' })
  await sweepOften({ harness, process })
  assert.equal(harness.cloud.released, [])
})

test('where no other cluster uses the project it is deleted with its Service', async () => {
  const { harness, process } = await adoptedCluster(true)
  harness.api.drop(services, { namespace: 'default', name: 'web' })
  await process.release()
  assert.equal([harness.record(), harness.cloud.released], [undefined, ['old']])
})

test.run()
