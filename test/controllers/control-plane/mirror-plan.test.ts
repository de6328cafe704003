import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type MirrorSeen, withoutFailing } from '../../../controllers/control-plane/mirror-objects.ts'
import { type MirrorStep, planMirror } from '../../../controllers/control-plane/mirror-plan.ts'
import type { EndpointSlice, Endpoints, Service } from '../../../kube/objects.ts'

const namespace = 'kube-system'
const name = 'external'
const address = '203.0.113.77'
const noPool = 'disabled-metallb-do-not-use-any-address-pool'
const annotations = {
  'metallb.universe.tf/address-pool': noPool,
  'metallb.io/address-pool': noPool,
  'lbipam.cilium.io/ips': '0.0.0.0',
}
const ports = [{ name: 'https', protocol: 'TCP', port: 6443, targetPort: 6443 }]

/** Where API servers listen, as one slice. */
const slice = (addresses: string[], facts: Partial<EndpointSlice> = {}): EndpointSlice => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'kubernetes', namespace: 'default' },
  addressType: 'IPv4',
  endpoints: addresses.map((one) => ({ addresses: [one], conditions: { ready: true } })),
  ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
  ...facts,
})

/** The copy of such a slice. */
const copy = (addresses: string[], facts: Partial<EndpointSlice> = {}, metadata: object = {}): EndpointSlice =>
  slice(addresses, {
    metadata: {
      name: `${name}-1`,
      namespace,
      labels: { 'kubernetes.io/service-name': name, 'endpointslice.kubernetes.io/managed-by': 'eip-admission.dev' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid: 'uid-1' }],
      ...metadata,
    },
    ...facts,
  })

/** A slice that Kubernetes made of Endpoints. */
const mirrored = (addresses: string[]): EndpointSlice =>
  slice(addresses, {
    metadata: {
      name: `${name}-abcde`,
      namespace,
      labels: {
        'kubernetes.io/service-name': name,
        'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
      },
    },
  })

const endpointsOf = (addresses: string[], labels: Record<string, string> = {}): Endpoints => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name, namespace, labels },
  subsets: [{ addresses: addresses.map((ip) => ({ ip })), ports: [{ name: 'https', port: 6443, protocol: 'TCP' }] }],
})

type ServiceFacts = { metadata?: object; spec?: Partial<Service['spec']>; ingress?: object[] }

const service = ({ metadata, spec, ingress = [{ ip: address, ipMode: 'VIP' }] }: ServiceFacts = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace, uid: 'uid-1', annotations, ...metadata },
  spec: { type: 'LoadBalancer', loadBalancerIP: address, ports, clusterIP: '10.96.0.9', ...spec },
  status: { loadBalancer: { ingress } },
})

const source = {
  service: {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kubernetes', namespace: 'default' },
    spec: { ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }] },
  } satisfies Service,
  slices: [slice(['10.0.0.1', '10.0.0.2'])],
}

const both = ['10.0.0.1', '10.0.0.2']

/** A mirror that is as it should be. */
const right: MirrorSeen = {
  key: `${namespace}/${name}`,
  address,
  port: undefined,
  source,
  service: service(),
  endpoints: undefined,
  slices: [copy(both)],
}

const skips = { 'endpointslice.kubernetes.io/skip-mirror': 'true' }
const deletionTimestamp = '2026-01-31T09:00:00Z'
const upstream = 'service.kubernetes.io/load-balancer-cleanup'
const none = { ...source, slices: [slice([], { endpoints: null })] }

const table: { name: string; seen: Partial<MirrorSeen>; step: MirrorStep['do'] | undefined; change?: object }[] = [
  { name: 'all is right', seen: {}, step: undefined },
  // The Service.
  { name: 'no Service', seen: { service: undefined }, step: 'create-service' },
  { name: 'no Service and no address', seen: { service: undefined, address: undefined }, step: undefined },
  {
    name: 'no Service and no API servers',
    seen: { service: undefined, source: { ...source, service: undefined } },
    step: undefined,
  },
  { name: 'a class', seen: { service: service({ spec: { loadBalancerClass: 'x' } }) }, step: undefined },
  {
    name: 'one annotation is missing',
    seen: { service: service({ metadata: { annotations: { 'metallb.io/address-pool': noPool } } }) },
    step: 'change-service',
    change: { metadata: { annotations } },
  },
  {
    name: 'another type',
    seen: { service: service({ spec: { type: 'ClusterIP' } }) },
    step: 'change-service',
    change: {
      spec: {
        type: 'LoadBalancer',
        loadBalancerClass: 'eip-admission.dev/control-plane',
        allocateLoadBalancerNodePorts: false,
      },
    },
  },
  {
    name: 'a selector and local traffic',
    seen: { service: service({ spec: { selector: {}, externalTrafficPolicy: 'Local' } }) },
    step: 'change-service',
    change: { spec: { selector: null, externalTrafficPolicy: 'Cluster' } },
  },
  {
    name: 'another address in the spec',
    seen: { service: service({ spec: { loadBalancerIP: '198.51.100.1' } }) },
    step: 'change-service',
    change: { spec: { loadBalancerIP: address } },
  },
  {
    name: 'another address, while ours is unknown',
    seen: { address: undefined, service: service({ spec: { loadBalancerIP: '198.51.100.1' }, ingress: [] }) },
    step: undefined,
  },
  {
    name: 'a node port',
    seen: { service: service({ spec: { ports: [{ ...ports[0]!, nodePort: 31_000 }] } }) },
    step: undefined,
  },
  {
    name: 'another port, and a node port that stays',
    seen: { port: 443, service: service({ spec: { ports: [{ ...ports[0]!, nodePort: 31_000 }] } }) },
    step: 'change-service',
    change: { spec: { ports: [{ ...ports[0]!, port: 443, nodePort: 31_000 }] } },
  },
  {
    name: 'a port too many',
    seen: { service: service({ spec: { ports: [...ports, { name: 'ssh', port: 22 }] } }) },
    step: 'change-service',
    change: { spec: { ports } },
  },
  // Its deletion.
  {
    name: 'it is being deleted',
    seen: { service: service({ metadata: { deletionTimestamp, finalizers: ['a/b'] } }) },
    step: undefined,
  },
  {
    name: 'it is being deleted with a finalizer of a predecessor',
    seen: { service: service({ metadata: { deletionTimestamp, finalizers: ['a/b', upstream] } }) },
    step: 'finish-deletion',
  },
  {
    name: 'a finalizer of a predecessor alone',
    seen: { service: service({ metadata: { finalizers: [upstream] } }) },
    step: undefined,
  },
  {
    name: 'API servers of a Service that is being deleted',
    seen: { service: service({ metadata: { deletionTimestamp, finalizers: ['a/b'] } }), slices: [copy(['10.0.0.1'])] },
    step: 'change-slice',
  },
  // Its status.
  { name: 'no status', seen: { service: { ...service(), status: {} } }, step: 'show-address' },
  { name: 'ipMode', seen: { service: service({ ingress: [{ ip: address, ipMode: 'Proxy' }] }) }, step: undefined },
  {
    name: 'a host name beside it',
    seen: { service: service({ ingress: [{ ip: address }, { hostname: 'x' }] }) },
    step: 'show-address',
  },
  // Our slices.
  { name: 'no slice', seen: { slices: [] }, step: 'create-slice' },
  { name: 'an API server is new', seen: { slices: [copy(['10.0.0.1'])] }, step: 'change-slice' },
  {
    name: 'the slice of a Service of that name before',
    seen: { slices: [copy(both, {}, { ownerReferences: [] })] },
    step: 'change-slice',
  },
  {
    name: 'a label of somebody on it',
    seen: { slices: [copy(both, {}, { labels: { ...copy([]).metadata.labels, team: 'x' } })] },
    step: undefined,
  },
  {
    name: 'another address family',
    seen: { slices: [copy(['fd00::1'], { addressType: 'IPv6' })] },
    step: 'remove-slice',
  },
  {
    name: 'one slice too many',
    seen: { slices: [copy(both), copy(both, {}, { name: `${name}-2` })] },
    step: 'remove-slice',
  },
  { name: 'a slice of somebody else', seen: { slices: [copy(both), slice(['192.0.2.1'])] }, step: undefined },
  { name: 'no API server anywhere', seen: { source: none }, step: undefined },
  { name: 'no slices of the API servers', seen: { source: { ...source, slices: [] } }, step: undefined },
  {
    name: 'no API server anywhere and another address',
    seen: { source: none, service: service({ ingress: [] }) },
    step: 'show-address',
  },
  // Endpoints of a predecessor.
  {
    name: 'Endpoints that are mirrored',
    seen: { endpoints: endpointsOf(both), slices: [mirrored(both)] },
    step: undefined,
  },
  {
    name: 'Endpoints that are not mirrored yet',
    seen: { endpoints: endpointsOf(both), slices: [] },
    step: 'create-slice',
  },
  { name: 'Endpoints that nobody mirrors', seen: { endpoints: endpointsOf(both) }, step: undefined },
  {
    name: 'Endpoints that are not to be mirrored any more, beside the slice that was made of them',
    seen: { endpoints: endpointsOf(both, skips), slices: [mirrored(both)] },
    step: 'create-slice',
  },
  { name: 'Endpoints that are not to be mirrored', seen: { endpoints: endpointsOf(both, skips) }, step: undefined },
  {
    name: 'Endpoints that are mirrored beside our slice',
    seen: { endpoints: endpointsOf(both), slices: [copy(both), mirrored(both)] },
    step: 'remove-slice',
  },
  {
    name: 'Endpoints of API servers that went',
    seen: { endpoints: endpointsOf(['10.0.0.3']), slices: [mirrored(['10.0.0.3'])] },
    step: 'change-endpoints',
  },
  {
    name: 'Endpoints in another order',
    seen: { endpoints: endpointsOf(both.toReversed()), slices: [mirrored(both)] },
    step: undefined,
  },
  {
    name: 'Endpoints of a deleted Service',
    seen: { endpoints: endpointsOf(both), service: undefined },
    step: 'create-service',
  },
  {
    name: 'Endpoints, and no API server anywhere',
    seen: { endpoints: endpointsOf(['10.0.0.3']), source: none },
    step: undefined,
  },
]
for (const { name: title, seen, step, change } of table)
  test(`mirror: ${title} -> ${step ?? 'nothing'}`, () => {
    const planned = planMirror({ ...right, ...seen })
    assert.is(planned?.do, step)
    if (change) assert.equal(planned && 'change' in planned && planned.change, change)
  })

test('API servers are followed before anything else is repaired', () => {
  const wrong = { ...right, service: service({ metadata: { annotations: {} }, ingress: [] }), slices: [] }
  const steps: (string | undefined)[] = []
  for (const seen of [
    wrong,
    { ...wrong, slices: right.slices },
    { ...wrong, ...right, service: service({ ingress: [] }) },
  ])
    steps.push(planMirror(seen)?.do)
  assert.equal(steps, ['create-slice', 'change-service', 'show-address'])
})

test('each slice of the API servers has a copy, in the order of their names', () => {
  const six = slice(['fd00::1'], { addressType: 'IPv6', metadata: { name: 'a', namespace: 'default' } })
  const seen = { ...right, source: { ...source, slices: [...source.slices, six] }, slices: [] as EndpointSlice[] }
  const made: string[] = []
  for (let step = planMirror(seen); step?.do === 'create-slice'; step = planMirror(seen)) {
    seen.slices.push(step.slice)
    made.push(`${step.slice.metadata.name} ${step.slice.addressType}`)
  }
  assert.equal(made, [`${name}-1 IPv6`, `${name}-2 IPv4`])
})

const twoAddresses = slice([], { endpoints: [{ addresses: ['10.0.0.1', '10.0.0.2'] }, { addresses: ['10.0.0.3'] }] })
const failingRows: [what: string, failing: string[], left: string[]][] = [
  ['all answer', [], ['10.0.0.1', '10.0.0.3']],
  ['one address of an API server fails', ['10.0.0.2'], ['10.0.0.3']],
  ['all fail, so that none would be left', ['10.0.0.1', '10.0.0.3'], ['10.0.0.1', '10.0.0.3']],
]
for (const [what, failing, left] of failingRows)
  test(`the mirror's servers if ${what}`, () => {
    const slices = withoutFailing([twoAddresses], (one) => failing.includes(one))
    assert.equal(
      slices.flatMap(({ endpoints }) => endpoints?.map(({ addresses }) => addresses[0])),
      left,
    )
  })

test.run()
