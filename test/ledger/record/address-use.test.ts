import { test } from 'uvu'
import { addressAnnotation } from '../../../ledger/record/names.ts'
import * as assert from 'uvu/assert'
import type { Service } from '../../../kube/objects.ts'
import { AddressInUse, type Exempt, type UsedAddress, findUsers } from '../../../ledger/record/address-use.ts'
import type { ElasticIP } from '../../../ledger/record/elastic-ip.ts'
import { makeLot, makeRecord, makeService } from '../../builders.ts'
import { testRows } from '../../drawn-rows.ts'

const address = '203.0.113.7'
const requestAnnotations = ['metallb.io/loadBalancerIPs', 'kube-vip.io/loadbalancerIPs']
const ingress = (ip: string) => ({ loadBalancer: { ingress: [{ ip }] } })
const deletionTimestamp = '2026-01-31T09:00:00Z'

type Case = {
  name: string
  service?: Service
  record?: ElasticIP
  used?: UsedAddress
  exempt?: Partial<Exempt>
  users: string[]
}

const inSpec = 'Service default/web shows it in spec.loadBalancerIP'
const inStatus = 'Service default/web shows it in status.loadBalancer'
const foreign = { namespace: 'other' }
const tenant = { ...foreign, loadBalancerClass: 'example.com/other' }
const of = { service: 'default/shop' }
const bound = (name: string, held = address) => {
  const record = makeRecord({ phase: 'Bound', address: held })
  return { ...record, metadata: { ...record.metadata, name } }
}
const owner = { service: 'default/shop', isRelease: true }

const cases: Case[] = [
  { name: 'a user-chosen address', service: makeService({ loadBalancerIP: address }), exempt: of, users: [inSpec] },
  {
    name: 'a user-chosen address, where the caller acts for no namespace',
    service: makeService({ loadBalancerIP: address }),
    users: [],
  },
  {
    name: 'a user-chosen address of a Service of another class',
    service: makeService({ loadBalancerIP: address, loadBalancerClass: 'example.com/other' }),
    exempt: of,
    users: [inSpec],
  },
  {
    name: 'one of several addresses that an annotation requests',
    service: makeService({ annotations: { 'kube-vip.io/loadbalancerIPs': `203.0.113.1, ${address}` } }),
    exempt: of,
    users: ['Service default/web shows it in annotation kube-vip.io/loadbalancerIPs'],
  },
  {
    name: 'our annotation on a Service whose record holds the address',
    service: makeService({ ...foreign, annotations: { [addressAnnotation]: address } }),
    record: bound('other.web'),
    exempt: of,
    users: ['ElasticIP other.web holds it'],
  },
  {
    name: 'our annotation on a Service whose record holds another address',
    service: makeService({ ...foreign, loadBalancerIP: address, annotations: { [addressAnnotation]: address } }),
    record: bound('other.web', '203.0.113.9'),
    exempt: of,
    users: [],
  },
  {
    name: 'our annotation on a Service without a record, in the namespace of the caller',
    service: makeService({ annotations: { [addressAnnotation]: address } }),
    exempt: of,
    users: ['Service default/web shows it in annotation eip-admission.dev/address'],
  },
  {
    name: 'the same, where the caller acts for no namespace',
    service: makeService({ annotations: { [addressAnnotation]: address } }),
    users: [],
  },
  {
    name: 'the status of a ClusterIP Service',
    service: makeService({ type: 'ClusterIP', status: ingress(address) }),
    users: [inStatus],
  },
  {
    name: 'a user-chosen address in the spec of the Service that is released, although we wrote its status',
    service: makeService({ loadBalancerIP: address, status: ingress(address) }),
    exempt: { service: 'default/web', isRelease: true },
    users: [inSpec],
  },
  {
    name: 'what a LoadBalancer left in the spec of a ClusterIP Service',
    service: makeService({ type: 'ClusterIP', loadBalancerIP: address }),
    users: [],
  },
  {
    name: 'the spec of a Service that is being deleted',
    service: makeService({ loadBalancerIP: address, deletionTimestamp }),
    users: [],
  },
  {
    name: 'the status of a Service that is being deleted',
    service: makeService({ status: ingress(address), deletionTimestamp }),
    users: [inStatus],
  },
  {
    name: 'another address',
    service: makeService({ loadBalancerIP: '203.0.113.70', status: ingress('203.0.113.77') }),
    users: [],
  },
  {
    name: 'the same IPv6 address in another text',
    service: makeService({ loadBalancerIP: '2001:DB8::1' }),
    used: { address: '2001:db8:0::1' },
    exempt: of,
    users: [inSpec],
  },
  {
    name: 'the Service that is served',
    service: makeService({ loadBalancerIP: address }),
    exempt: { service: 'default/web' },
    users: [],
  },
  {
    name: 'the Service whose address is released, in the spec as we wrote it',
    service: makeService({ loadBalancerIP: address, annotations: { 'eip-admission.dev/address': address } }),
    exempt: { ...owner, service: 'default/web' },
    users: [],
  },
  {
    name: 'the Service whose address is released, in the spec as its user wrote it',
    service: makeService({ loadBalancerIP: address }),
    exempt: { ...owner, service: 'default/web' },
    users: [inSpec],
  },
  {
    name: "a request from another namespace than the owner's",
    service: makeService({ ...foreign, loadBalancerIP: address }),
    exempt: owner,
    users: [],
  },
  {
    name: 'a list of addresses that a tenant of another namespace requests, for a claim',
    service: makeService({ ...tenant, annotations: { 'metallb.io/loadBalancerIPs': `203.0.113.1,${address}` } }),
    exempt: of,
    users: [],
  },
  {
    name: 'our annotation on a Service of another class',
    service: makeService({ ...tenant, loadBalancerIP: address, annotations: { [addressAnnotation]: address } }),
    exempt: owner,
    users: [],
  },
  {
    name: 'the same with our annotation',
    service: makeService({ ...foreign, loadBalancerIP: address, annotations: { [addressAnnotation]: address } }),
    exempt: owner,
    users: [],
  },
  {
    name: 'the status of a Service of another class and namespace',
    service: makeService({ ...tenant, status: ingress(address) }),
    users: ['Service other/web shows it in status.loadBalancer'],
  },
  {
    name: 'the same in its status',
    service: makeService({ ...foreign, status: ingress(address) }),
    exempt: owner,
    users: ['Service other/web shows it in status.loadBalancer'],
  },
  {
    name: 'the same from the namespace of the owner',
    service: makeService({ ...foreign, namespace: 'default', loadBalancerIP: address }),
    exempt: owner,
    users: [inSpec],
  },
  {
    name: 'a record with the address',
    record: makeRecord({ phase: 'Bound', address }),
    users: ['ElasticIP default.web holds it'],
  },
  {
    name: 'a record with the reservation',
    record: makeRecord({ phase: 'Requested', reservationID: 'res-1' }),
    used: { reservationID: 'res-1' },
    users: ['ElasticIP default.web holds it'],
  },
  { name: 'a record that is being released', record: makeRecord({ phase: 'Releasing', address }), users: [] },
  {
    name: 'the record of the caller',
    record: makeRecord({ phase: 'Bound', address }),
    exempt: { records: ['default.web'] },
    users: [],
  },
  {
    name: 'an ElasticIP that is not provisioned',
    record: makeLot('office', { reservationID: 'res-1', reclaimPolicy: 'Retain' }),
    used: { reservationID: 'res-1' },
    users: [],
  },
]

for (const { name, service, record, used = { address }, exempt, users } of cases) {
  test(`${name}: ${users.length === 0 ? 'no user' : 'a user'}`, () => {
    const all = {
      services: service ? [service] : [],
      records: record ? [record] : [],
      requestAnnotations,
    }
    const found = findUsers(used, all, { records: [], ...exempt })
    assert.equal(
      found.map(({ kind, key, how }) => `${kind} ${key} ${how}`),
      users,
    )
  })
}

test('an error names five users and says what to do', () => {
  const services = Array.from({ length: 7 }, (_, n) => makeService({ name: `s${n}`, loadBalancerIP: address }))
  const exempt = { service: 'default/shop', records: [] }
  const users = findUsers({ address }, { services, records: [], requestAnnotations }, exempt)
  const { message } = new AddressInUse({ address }, users)
  assert.match(message, /^address 203\.0\.113\.7 is in use and stays reserved for now: Service default\/s0 shows it/)
  assert.match(message, 'Service default/s4 shows it in spec.loadBalancerIP and 2 more. Delete what uses it')
})

const counts = 'against everybody|in its namespace only'
testRows(
  'ledger/record/address-use.ts',
  cases.map(({ name, users }) => [name, users.length > 0 ? counts : 'never']),
  [
    'a record with the reservation',
    'the status of a ClusterIP Service',
    'one of several addresses that an annotation requests',
    'the spec of a Service that is being deleted',
  ],
)

test.run()
