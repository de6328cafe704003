// The record of an address that Services of one namespace share, when its own Service gives it up.
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Service, keyOf } from '../../../kube/objects.ts'
import { services } from '../../../kube/resource.ts'
import { bind } from '../../../ledger/claim/stored-record.ts'
import { type ElasticIP, elasticIPs, heldAddress } from '../../../ledger/record/elastic-ip.ts'
import { clusterMarks, serviceMarks } from '../../../ledger/record/marks.ts'
import { heirOf } from '../../../ledger/release/heir.ts'
import { release } from '../../../ledger/release/release.ts'
import { want } from '../../../ledger/want/want.ts'
import { makeRecord, makeService } from '../../builders.ts'
import { graceMs, makeHarness, neverAborted, scheme, usualPolicy, type Harness } from '../harness.ts'

const address = '203.0.113.1'
const finalizers = ['eip-admission.dev/address-cleanup']
const sharing = (name: string, facts: Parameters<typeof makeService>[0] = {}) =>
  makeService({ name, uid: `uid-${name}`, finalizers, loadBalancerIP: address, ...facts })
const showing = { status: { loadBalancer: { ingress: [{ ip: address }] } } }
const bound = makeRecord({ phase: 'Bound', address, reservationID: 'res-1' })
const recordOf = (name: string, of: ElasticIP): ElasticIP => ({ ...of, metadata: { ...of.metadata, name } })
const begun = recordOf('default.db', makeRecord(undefined, { reservationID: 'res-1' }))

type Case = { name: string; record?: ElasticIP; services: Service[]; records?: ElasticIP[]; heir?: string }
const cases: Case[] = [
  { name: 'a Service that requests the address', services: [sharing('db')], heir: 'default/db' },
  {
    name: 'a Service that requests it by an annotation',
    services: [makeService({ name: 'db', annotations: { 'metallb.io/loadBalancerIPs': address } })],
    heir: 'default/db',
  },
  { name: 'nobody where only its own Service does', services: [sharing('web')] },
  { name: 'nobody of another namespace', services: [sharing('db', { namespace: 'tenant' })] },
  { name: 'nobody who is deleted too', services: [sharing('db', { deletionTimestamp: 'now' })] },
  {
    name: 'nobody with another own address',
    services: [sharing('db', { ...showing, loadBalancerIP: '198.51.100.7' })],
  },
  { name: 'nobody whom another program serves', services: [sharing('db', { loadBalancerClass: 'example.com/other' })] },
  { name: 'nobody with a record of its own', services: [sharing('db')], records: [recordOf('default.db', bound)] },
  {
    name: 'nobody whose retained address has the name',
    services: [sharing('db')],
    records: [
      recordOf('default.db', makeRecord({ phase: 'Released', address: '203.0.113.9', reservationID: 'res-9' })),
    ],
  },
  {
    name: 'one whose record an earlier attempt has begun',
    services: [sharing('a', showing), sharing('db')],
    records: [begun],
    heir: 'default/db',
  },
  {
    name: 'nobody whose record was begun for another reservation',
    services: [sharing('db')],
    records: [recordOf('default.db', makeRecord(undefined, { reservationID: 'res-9' }))],
  },
  {
    name: 'the one that shows it, before an older one',
    services: [sharing('a', { creationTimestamp: '2020-01-01T00:00:00Z' }), sharing('db', showing)],
    heir: 'default/db',
  },
  {
    name: 'the older one of two',
    services: [
      sharing('a', { creationTimestamp: '2021-01-01T00:00:00Z' }),
      sharing('db', { creationTimestamp: '2020-01-01T00:00:00Z' }),
    ],
    heir: 'default/db',
  },
  {
    name: 'nobody while the address is lent',
    record: { ...bound, spec: { ...bound.spec, source: { name: 'office', type: 'Provisioned' } } },
    services: [sharing('db')],
  },
  {
    name: 'nobody once its deletion was requested',
    record: makeRecord({ phase: 'Releasing', address, reservationID: 'res-1', deletionRequestedAt: 'now' }),
    services: [sharing('db')],
  },
]

for (const { name, record = bound, services: using, records = [], heir } of cases)
  test(`the record passes to ${name}`, () => {
    const found = heirOf(record, {
      services: using,
      recordOf: (key) => records.find(({ metadata }) => metadata.name === key.replace('/', '.')),
      want: (service) => want(service, usualPolicy, undefined),
    })
    assert.is(found && keyOf(found), heir)
  })

/** default/web holds the address and is deleted; default/db shows it too. */
async function shared(): Promise<Harness> {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const a = harness.alone('a')
  await a.claim()
  await bind(a.deps, { record: harness.record() as ElasticIP, uid: 'uid-1' }, neverAborted)
  harness.addService(sharing('db', showing))
  return harness
}

/** A reservation, never released; its record and its marks are those of default/db. */
function isPassedOn(harness: Harness): void {
  assert.equal(harness.cloud.released, [])
  assert.equal(
    harness.cloud.reserved().map(({ id, marks }) => [id, marks['service']]),
    [['res-1', serviceMarks(scheme, 'default/db')['service']]],
  )
  assert.equal(
    harness.api
      .stored(elasticIPs)
      .map((record) => [record.metadata.name, record.spec.claimRef?.uid, heldAddress(record)]),
    [['default.db', 'uid-db', address]],
  )
}

test('the record passes with its reservation, and goes with its new Service', async () => {
  const harness = await shared()
  const a = harness.alone('a')
  assert.equal(await a.release(), { passedTo: 'default/db' })
  isPassedOn(harness)
  await a.reconcile('default/db')
  const service = harness.api.stored(services).find((one) => keyOf(one) === 'default/db')
  assert.is(service?.metadata.annotations?.['eip-admission.dev/address'], address)
  await harness.api.client.remove(services, { namespace: 'default', name: 'db' })
  await a.reconcile('default/db')
  assert.equal([harness.cloud.released, harness.api.stored(elasticIPs)], [['res-1'], []])
})

for (const isAnnounced of [false, true])
  test(`a controller has the record passed on where the address is ${isAnnounced ? '' : 'not '}announced`, async () => {
    const harness = await shared()
    const findAnnouncement = () => (isAnnounced ? { services: ['default/db'] } : undefined)
    await harness.alone('a', { findAnnouncement }).reconcile('default/web')
    isPassedOn(harness)
  })

for (const crashAt of [1, 2, 3, 4, 5, 6, 7])
  for (const moment of ['before', 'after'] as const)
    test(`a process that dies ${moment} write ${crashAt} of a release leaves what the next one completes`, async () => {
      const harness = await shared()
      let writes = 0
      const dies = ({ verb }: { verb: string }) => {
        if (['create', 'replace', 'mark', 'remove', 'release'].includes(verb)) writes += 1
        if (writes >= crashAt) throw new Error('dead')
      }
      const hooks = { [moment]: dies }
      await Promise.allSettled([harness.alone('a', { kube: hooks, cloud: hooks }).release()])
      const next = harness.alone('b')
      for (let round = 0; round < 4; round += 1) {
        await Promise.allSettled([next.release()])
        await next.sweep(neverAborted)
        harness.advance(graceMs + 60_000)
        await Promise.allSettled([next.reconcile('default/db')])
      }
      isPassedOn(harness)
    })

/** A person deletes the ElasticIP and its finalizers: nobody releases anything. */
const deletedByForce = (harness: Harness) => harness.api.drop(elasticIPs, { name: 'default.web' })

test('if the record and its Service are deleted by force, a Service that shares the address finally gets both', async () => {
  const harness = await shared()
  deletedByForce(harness)
  const next = harness.alone('b')
  for (let round = 0; round < 4; round += 1) {
    await next.sweep(neverAborted)
    await next.reconcile('default/db')
    harness.advance(graceMs + 60_000)
  }
  isPassedOn(harness)
})

test('if only the record is deleted by force, its Service gets the address again, and the other one shares it', async () => {
  const harness = await shared()
  deletedByForce(harness)
  harness.addService(makeService({ uid: 'uid-1', finalizers }))
  const next = harness.alone('b')
  for (let round = 0; round < 4; round += 1) {
    await next.sweep(neverAborted)
    for (const key of ['default/web', 'default/db']) await next.reconcile(key)
    harness.advance(graceMs + 60_000)
  }
  assert.equal([harness.cloud.bought.length, harness.cloud.released, harness.reservationsOf()], [1, [], ['res-1']])
  assert.equal(
    harness.api.stored(elasticIPs).map((record) => [record.metadata.name, heldAddress(record)]),
    [['default.web', address]],
  )
})

test('a previous Service that is created again in between keeps its record, and the other one gets none', async () => {
  const harness = await shared()
  const before = async ({ verb, values: [, record] }: { verb: string; values: readonly unknown[] }) => {
    const { status } = record as ElasticIP
    const isLettingGo = verb === 'replace' && status?.phase === 'Releasing' && status.address === undefined
    if (isLettingGo) await harness.alone('c').claim({ wait: true })
  }
  await harness
    .alone('a', { kube: { before } })
    .release()
    .then(
      () => assert.unreachable(),
      (error: Error) => assert.match(error.message, /conflict|changed|modified/i),
    )
  assert.equal(
    harness.api.stored(elasticIPs).map((record) => [record.metadata.name, heldAddress(record)]),
    [['default.web', address]],
  )
  assert.equal([harness.cloud.released, harness.reservationsOf()], [[], ['res-1']])
})

test('nothing is deleted if the other Service has just stopped using an announced address', async () => {
  const harness = await shared()
  harness.addService(makeService({ name: 'db' }))
  const { deps } = harness.alone('a')
  const record = harness.record() as ElasticIP
  assert.is(await release(deps, { record, isAnnounced: true }, neverAborted), 'unshared')
  assert.equal([harness.cloud.released, harness.reservationsOf()], [[], ['res-1']])
})

test('the marks of an adopted reservation that had none stay as they are', async () => {
  const harness = await shared()
  await harness.cloud.cloud.mark(
    { id: 'res-1', marks: {} },
    { cluster: undefined, service: undefined, usage: undefined },
    neverAborted,
  )
  const record = harness.record() as ElasticIP
  harness.api.put(elasticIPs, { ...record, spec: { ...record.spec, reservationID: 'res-1' } })
  assert.equal(await harness.alone('a').release(), { passedTo: 'default/db' })
  assert.is(harness.cloud.reserved()[0]?.marks['cluster'], undefined)
  assert.is(clusterMarks(scheme)['cluster'], 'cluster-1')
})

test.run()
