import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type WhySeen, explain } from '../../kubectl-eip/explain.ts'
import type { Service } from '../../kube/objects.ts'
import { addressCondition } from '../../ledger/record/names.ts'
import { copyOf } from '../../kubectl-eip/preview.ts'
import { keyOfService } from '../../kubectl-eip/why.ts'
import { makeRecord, makeService } from '../builders.ts'
import { address, shows } from './builders.ts'

type Row = Partial<Omit<WhySeen, 'record'>> & {
  name: string
  record?: ReturnType<typeof makeRecord>
  is: string
  todo?: string
}

const nothing = 'No action needed.'
const bound = makeRecord({ phase: 'Bound', address })
const ours = { 'eip-admission.dev/address': address }

const balanced = ['eip-admission.dev/balancer-cleanup']

const saying = (reason: string, message: string): NonNullable<Service['status']> => ({
  conditions: [
    { type: addressCondition, status: 'False', reason, message, lastTransitionTime: '2026-01-31T09:00:00Z' },
  ],
})

const rows: Row[] = [
  { name: 'no Service and no record', service: undefined, is: 'There is no Service default/web.', todo: '(-n)' },
  {
    name: 'a kept address',
    service: undefined,
    record: makeRecord({ phase: 'Released', address }),
    is: `${address} is kept for it (reclaim policy Retain)`,
    todo: 'kubectl eip release default.web',
  },
  {
    name: 'an address without a Service yet',
    service: undefined,
    record: makeRecord({ phase: 'Reserved', address }),
    is: 'the API server refused the Service after that',
  },
  {
    name: 'a release that waits',
    service: undefined,
    record: makeRecord({ phase: 'Releasing', address, message: 'Service a/b shows it.' }),
    is: `${address} is being released (Service a/b shows it).`,
  },
  {
    name: 'a Service that is being withdrawn',
    service: makeService({
      deletionTimestamp: '2026-01-31T09:00:00Z',
      finalizers: ['eip-admission.dev/address-cleanup'],
      status: shows(address),
    }),
    record: bound,
    is: `${address} is being withdrawn from the network`,
  },
  {
    name: 'a Service that others hold back',
    service: makeService({ deletionTimestamp: '2026-01-31T09:00:00Z', finalizers: ['other.example/x'] }),
    is: 'it waits for others: other.example/x',
  },
  { name: 'another type', service: makeService({ type: 'NodePort' }), is: 'its type is NodePort' },
  {
    name: 'the address of a managed balancer',
    service: makeService({
      finalizers: balanced,
      annotations: { 'equinix.com/loadbalancerID': 'lb-1', 'equinix.com/loadbalancerMetro': 'da' },
      status: shows(address),
    }),
    is: `Service default/web has the address ${address}: that of its managed load balancer lb-1 in da.`,
    todo: nothing,
  },
  {
    name: 'a managed balancer without an address',
    service: makeService({ finalizers: balanced, annotations: { 'equinix.com/loadbalancerID': 'lb-1' } }),
    is: 'has no address yet: the provider has not given its managed load balancer lb-1 an address.',
  },
  {
    name: 'a request for a managed balancer',
    service: makeService({ finalizers: balanced, annotations: { 'eip-admission.dev/balancer-request': 'r' } }),
    is: 'has no address yet: a request for its managed load balancer is under way.',
  },
  {
    name: 'a managed balancer that nobody has requested',
    service: makeService({ finalizers: balanced }),
    is: 'has no address yet: its managed load balancer is not requested yet.',
  },
  {
    name: 'a managed balancer that goes',
    service: makeService({ deletionTimestamp: '2026-01-31T09:00:00Z', finalizers: balanced }),
    is: 'is being deleted: its managed load balancer is being deleted.',
  },
  {
    name: 'another address than its record',
    service: makeService({ status: shows('203.0.113.9') }),
    record: bound,
    is: `shows 203.0.113.9, but its ElasticIP default.web has ${address}`,
  },
  {
    name: 'a reserved address',
    service: makeService({ status: shows(address) }),
    record: bound,
    is: `has the address ${address}: it is reserved for this Service in da.`,
    todo: nothing,
  },
  {
    name: 'a provisioned address',
    service: makeService({ status: shows(address) }),
    record: makeRecord({ phase: 'Bound', address }, { source: { name: 'office', type: 'Provisioned' } }),
    is: 'that of ElasticIP office, which it requests by name',
    todo: nothing,
  },
  {
    name: 'a user-chosen address',
    service: makeService({ loadBalancerIP: address, status: shows(address) }),
    is: 'its user chose it in spec.loadBalancerIP',
    todo: nothing,
  },
  {
    name: 'an address of other software',
    service: makeService({ status: shows(address) }),
    is: 'other software assigned it',
  },
  {
    name: 'an address that we wrote, without the right to see its record',
    service: makeService({ status: shows(address), annotations: ours }),
    is: 'eip-admission wrote it',
    todo: nothing,
  },
  {
    name: 'an address that nobody announces',
    service: makeService({ loadBalancerIP: address, annotations: ours }),
    record: bound,
    is: 'no announcing software has taken it',
  },
  {
    name: 'an address that the announcing software refuses',
    service: makeService({
      loadBalancerIP: address,
      annotations: ours,
      status: saying('NotAnnounced', 'cilium: taken.'),
    }),
    record: bound,
    is: 'Service default/web has no address: cilium: taken.',
    todo: 'Change what this names.',
  },
  {
    name: 'no address, where nothing but its condition is known',
    service: makeService({ status: saying('Refused', 'no location da') }),
    is: 'Service default/web has no address: no location da',
    todo: 'See the Events above.',
  },
  {
    name: 'an address that is given back while its Service waits',
    service: makeService({ annotations: ours }),
    record: makeRecord({ phase: 'Releasing', address, message: 'Service a/b shows it.' }),
    is: `Service default/web has no address yet: ${address} is being released (Service a/b shows it).`,
    todo: 'Wait: after that eip-admission gives the Service an address',
  },
  {
    name: 'a kept address that its Service does not get',
    service: makeService(),
    record: makeRecord({ phase: 'Released', address, message: 'it is of the other family' }),
    is: `Service default/web has no address yet, although ${address} is kept for its name (it is of the other family).`,
    todo: 'kubectl eip release default.web',
  },
  {
    name: 'a record that has lost its address',
    service: makeService({ annotations: ours }),
    record: makeRecord({ phase: 'Requested', message: 'the provider has no address for it' }),
    is: 'has no address yet: the provider has no address for it.',
  },
  {
    name: 'an address that nobody announces, without the right to see its record',
    service: makeService({ loadBalancerIP: address, annotations: ours }),
    is: 'no announcing software has taken it',
  },
  {
    name: 'a pending address',
    service: makeService(),
    record: makeRecord({ phase: 'Requested', message: 'the quota is reached' }),
    is: 'has no address yet: the quota is reached.',
  },
  {
    name: 'a user-chosen address that no program announces',
    service: makeService({ loadBalancerIP: address }),
    is: `requests ${address} as its own`,
  },
  { name: 'a denial', service: makeService(), preview: { kind: 'denied', reason: 'no metro xx' }, is: 'no metro xx' },
  {
    name: 'no review',
    service: makeService(),
    preview: { kind: 'unreviewed', warnings: [] },
    is: 'did not review it',
    todo: 'doctor',
  },
  {
    name: 'load balancing that is off',
    service: makeService(),
    preview: { kind: 'unreviewed', warnings: ['another', 'eip-admission gives this Service no address: it is off'] },
    is: 'gives this Service no address: it is off',
  },
  {
    name: 'another class',
    service: makeService({ loadBalancerClass: 'a.example/b' }),
    preview: { kind: 'unreviewed', warnings: [] },
    is: 'software of class a.example/b',
  },
  {
    name: 'nobody who completes it',
    service: makeService(),
    preview: { kind: 'accepted' },
    is: 'would give it one',
    todo: 'there is no leader',
  },
  {
    name: 'no right to create Services',
    service: makeService(),
    preview: { kind: 'unknown', reason: 'may not create services' },
    is: 'may not create services',
  },
]

for (const { name, record, is, todo = '', ...more } of rows) {
  test(name, () => {
    const seen = {
      key: 'default/web',
      service: undefined,
      record: { value: record },
      events: { value: [] },
      installedIn: 'i',
      seconds: [],
      ...more,
    }
    const verdict = explain(seen)
    assert.match(verdict.is, is)
    assert.match(verdict.todo, todo)
    assert.match(verdict.todo, /\.$/)
  })
}

test('without the right to read records the verdict names the right', () => {
  const seen = {
    key: 'default/web',
    service: makeService(),
    record: { missing: 'get ElasticIPs' },
    installedIn: 'i',
    seconds: [],
    events: { value: [] },
  }
  assert.match(explain(seen).is, 'you may not get ElasticIPs')
})

test('the copy that is sent as a dry run is what the user wrote', () => {
  const service = makeService({
    clusterIP: '10.0.0.7',
    clusterIPs: ['10.0.0.7'],
    loadBalancerIP: address,
    ports: [{ port: 80, nodePort: 30_080 }],
    annotations: { ...ours, 'metal.equinix.com/eip-metro': 'da' },
    finalizers: ['eip-admission.dev/address-cleanup'],
  })
  const { metadata, spec } = copyOf(service)
  assert.equal(metadata, {
    name: 'web-eip-why',
    namespace: 'default',
    annotations: { 'metal.equinix.com/eip-metro': 'da' },
  })
  assert.equal(spec, { type: 'LoadBalancer', ports: [{ port: 80 }] })
  assert.is(copyOf(makeService({ clusterIP: 'None' })).spec.clusterIP, 'None')
  assert.ok(copyOf(makeService({ name: 'x'.repeat(63) })).metadata.name.length <= 63)
})

for (const [text, key] of [
  ['web', 'shop/web'],
  ['default/web', 'default/web'],
  // A namespace may have this name.
  ['svc/web', 'svc/web'],
  ['services/web', 'services/web'],
  ['../web', undefined],
  ['a/b/c', undefined],
  ['', undefined],
  ['we\u001bb', undefined],
] as const)
  test(`a person may name a Service as ${JSON.stringify(text)}`, () => {
    if (key === undefined) assert.throws(() => keyOfService(text, 'shop'), 'is not the name of a Service')
    else assert.is(keyOfService(text, 'shop'), key)
  })

test.run()
