import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Reservation } from '../../../clouds/ports/cloud.ts'
import { grantedCheck } from '../../../ledger/claim/granted-address.ts'
import type { Service } from '../../../kube/objects.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { want } from '../../../ledger/want/want.ts'
import { isInRanges } from '../../../lib/ip-address.ts'
import { makeLot, makeRecord, makeReservation, makeService } from '../../builders.ts'
import { makeHarness, neverAborted, usualPolicy } from '../harness.ts'

const address = '203.0.113.7'
const held = (facts: object, name = 'default.other'): ElasticIP => {
  const record = makeRecord({ phase: 'Bound', ...facts })
  return { ...record, metadata: { ...record.metadata, name } }
}

const releasing = held({
  phase: 'Releasing',
  address,
  reservationID: 'res-1',
  deletionRequestedAt: '2026-01-31T09:00:00Z',
})

type Facts = {
  records?: ElasticIP[]
  services?: Service[]
  stored?: { record?: ElasticIP; service?: Service }
  cloud?: Reservation[]
}

/** A process whose caches have these objects; the API server has the same, unless `stored` is given. */
function check({ records = [], services = [], stored, cloud = [] }: Facts) {
  return grantedCheck({
    clusterNetwork: (one) => (isInRanges(one, ['10.96.0.0/12']) ? 'in a Service range' : undefined),
    cached: { records: () => records, services: () => services },
    stored: {
      record: async (name) => (stored ? stored.record : records.find(({ metadata }) => metadata.name === name)),
      service: async (of) => (stored ? stored.service : of),
    },
    reservation: async (id) => cloud.find((one) => one.id === id),
    want: wanted,
    monotonicMs: () => 0,
  })
}
const status = { loadBalancer: { ingress: [{ ip: address }] } }
const showing = (name: string, facts: Parameters<typeof makeService>[0] = {}) =>
  makeService({ name, annotations: {}, status, ...facts })
const requesting = { loadBalancerIP: address }
const wanted = (service: Service) => want(service, usualPolicy, undefined)

const cases: [name: string, granted: string, facts: Facts, problem: string | undefined][] = [
  ['an ordinary address', address, {}, undefined],
  ['no address', 'soon', {}, 'reservation res-9 is "soon", which is not an IP address'],
  ['a loopback address', '127.0.0.1', {}, 'reservation res-9 is 127.0.0.1, which is a loopback address'],
  ['the address of metadata services', '169.254.169.254', {}, 'which is a link-local address'],
  ['the broadcast address', '255.255.255.255', {}, 'which is the broadcast address'],
  ['an address of a Service', '10.96.0.1', {}, 'which is in a Service range of this cluster'],
  ["another record's address", address, { records: [held({ address })] }, 'ElasticIP default.other holds already'],
  [
    "another record's reservation",
    address,
    { records: [held({ reservationID: 'res-9' })] },
    'which ElasticIP default.other holds',
  ],
  [
    'the address of a record that is released',
    address,
    { records: [held({ phase: 'Releasing', address })] },
    'ElasticIP default.other holds already',
  ],
  [
    'the address of a reservation that the provider was asked to delete, and has deleted',
    address,
    { records: [releasing] },
    undefined,
  ],
  [
    'the address of a reservation that the provider was asked to delete, and has still',
    address,
    { records: [releasing], cloud: [makeReservation({ id: 'res-1', address })] },
    'reservation res-9 is 203.0.113.7, which reservation res-1 has until it is deleted',
  ],
  ['the address of a deleted record', address, { records: [held({ address })], stored: {} }, undefined],
  ['the address of the record itself', address, { records: [held({ address }, 'default.web')] }, undefined],
  ["another Service's address", address, { services: [showing('other')] }, 'Service default/other shows already'],
  ['the address of a deleted Service', address, { services: [showing('other')], stored: {} }, undefined],
  ['an address that a Service of its namespace shares', address, { services: [showing('db', requesting)] }, undefined],
  [
    'an address that a Service of its namespace showed and shares no longer',
    address,
    { services: [showing('db', requesting)], stored: { service: showing('db') } },
    'Service default/db shows already',
  ],
  [
    'an address that a Service of another namespace requests and shows',
    address,
    { services: [showing('db', { namespace: 'tenant', ...requesting })] },
    'Service tenant/db shows already',
  ],
  [
    'an address that a Service of its namespace shows while it requests another one',
    address,
    { services: [showing('db', { loadBalancerIP: '203.0.113.8' })] },
    'Service default/db shows already',
  ],
  ['an address that both Services show', address, { services: [showing('other'), showing('web')] }, undefined],
]
for (const [name, granted, facts, problem] of cases)
  test(`${name}: ${problem === undefined ? 'used' : 'refused'}`, async () => {
    const found = await check(facts)(makeRecord(), { id: 'res-9', address: granted }, neverAborted)
    if (problem === undefined) assert.is(found, undefined)
    else assert.match(found ?? '', problem)
  })

test('a record may have the address of the ElasticIP that it came from', async () => {
  const source = makeLot('office', { reclaimPolicy: 'Retain' }, { phase: 'Bound', address, reservationID: 'res-9' })
  const record = makeRecord({}, { source: { name: 'office', type: 'Provisioned' } })
  assert.is(await check({ records: [source] })(record, { id: 'res-9', address }, neverAborted), undefined)
})

test('a new warm record does not get the address that went from an older one of its name to a Service', async () => {
  const warm = makeLot('warm-da-1', { location: 'da', reclaimPolicy: 'Delete' })
  const bound = { phase: 'Bound', address, reservationID: 'res-1' } as const
  const holder = makeRecord(bound, { source: { name: 'warm-da-1', type: 'WarmPool' } })
  assert.match(
    (await check({ records: [holder] })(warm, { id: 'res-2', address }, neverAborted)) ?? '',
    'holds already',
  )
  assert.is(await check({ records: [holder] })(warm, { id: 'res-1', address }, neverAborted), undefined)
})

test('of two claims at the same time one gets a reservation that the provider grants twice', async () => {
  const [web, other] = [makeRecord(), held({ phase: 'Requested' })]
  const records = new Map([web, other].map((record) => [record.metadata.name, record]))
  const grantedProblem = grantedCheck({
    clusterNetwork: () => undefined,
    cached: { records: () => [], services: () => [] },
    stored: { record: async (name) => records.get(name), service: async () => undefined },
    reservation: async () => undefined,
    want: wanted,
    monotonicMs: () => 0,
  })
  const problems = await Promise.all(
    [web, other].map((record) => grantedProblem(record, { id: 'res-9', address }, neverAborted)),
  )
  assert.equal(problems, [undefined, `reservation res-9 is ${address}, which ElasticIP default.web holds already`])
})

test('a Service gets no address that a cloud grants twice, and nothing is deleted because of it', async () => {
  const harness = makeHarness()
  harness.setAdoptionMark()
  const process = harness.process('a')
  assert.is((await process.claim()).kind, 'held')
  harness.cloud.fates = ['requested']
  await process.claim({ key: 'default/db' })
  const [first, second] = harness.cloud.reserved()
  assert.ok(first && second)
  harness.cloud.put({ ...second, state: 'reserved', address: first.address })
  const claimed = await process.claim({ key: 'default/db' })
  assert.is(claimed.kind, 'pending')
  assert.match(claimed.kind === 'pending' ? claimed.reason : '', /holds already; it stays reserved/)
  assert.equal([harness.record('default/db')?.status?.address, harness.cloud.released], [undefined, []])
})

test.run()
