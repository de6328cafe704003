import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { controlPlaneNodes, controlPlaneWords } from '../../../controllers/control-plane/control-plane-nodes.ts'
import type { EndpointSlice, Node, NodeAddress } from '../../../kube/objects.ts'

const ids = { scheme: 'test', older: [], id: /^m\d$/ }
const shared = '203.0.113.9'

function makeNode(facts: Partial<Node['metadata']> & Partial<Node['spec']> & { addresses?: NodeAddress[] } = {}): Node {
  const {
    addresses = [{ type: 'InternalIP', address: '10.0.0.1' }],
    providerID = 'test://m1',
    unschedulable,
    ...metadata
  } = facts
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a', ...metadata },
    spec: { providerID, ...(unschedulable !== undefined && { unschedulable }) },
    status: { addresses },
  }
}

function slice(port: number, ...addresses: string[]): EndpointSlice {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'kubernetes' },
    addressType: 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address] })),
    ports: [
      { name: 'other', port: 1 },
      { name: 'https', port },
    ],
  }
}

const only = (node: Node, slices: EndpointSlice[] = [slice(6443, '192.0.2.1')]) =>
  controlPlaneNodes({ nodes: [node], slices, shared, ids })[0]

test('two Node objects of one machine are one control-plane node', () => {
  const [old, renamed] = [makeNode({ creationTimestamp: '2026-01-02T00:00:00Z' }), makeNode({ name: 'b' })]
  const found = controlPlaneNodes({
    nodes: [old, renamed, makeNode({ name: 'c', providerID: 'test://m2' })],
    slices: [],
    shared,
    ids,
  })
  assert.equal(
    found.map(({ name }) => name),
    ['b', 'c'],
  )
})

const [internal, external, v6, address]: NodeAddress[] = [
  { type: 'InternalIP', address: '10.0.0.1' },
  { type: 'ExternalIP', address: '198.51.100.1' },
  { type: 'InternalIP', address: 'FD00::1' },
  { type: 'ExternalIP', address: shared },
]
const places: [what: string, addresses: NodeAddress[], slices: EndpointSlice[], endpoint: string | undefined][] = [
  ['internal before external', [external!, internal!], [slice(6443, '192.0.2.1')], '10.0.0.1:6443'],
  ['what the API server publishes first', [internal!, external!], [slice(7443, '198.51.100.1')], '198.51.100.1:7443'],
  ['another port on each machine', [internal!], [slice(7443, '10.0.0.2'), slice(8443, '10.0.0.1')], '10.0.0.1:8443'],
  ['never the control-plane address', [address!, external!], [slice(6443, shared)], '198.51.100.1:6443'],
  ['the control-plane address alone', [address!], [slice(6443, shared)], undefined],
  ['IPv4 before IPv6', [v6!, internal!], [], '10.0.0.1:6443'],
  ['IPv6 in its short form', [v6!], [], 'fd00::1:6443'],
  ['no address', [], [], undefined],
]
for (const [what, addresses, slices, expected] of places)
  test(`where an API server is probed: ${what}`, () => {
    const endpoint = only(makeNode({ addresses }), slices)?.endpoint
    assert.is(endpoint && `${endpoint.address}:${endpoint.port}`, expected)
  })

test('machines deliver the address to the API servers that are published', () => {
  const nodes = ['10.0.0.1', '10.0.0.2'].map((own, n) =>
    makeNode({ name: own, providerID: `test://m${n}`, addresses: [{ type: 'InternalIP', address: own }] }),
  )
  const found = controlPlaneNodes({ nodes, slices: [slice(6443, '10.0.0.2')], shared, ids })
  assert.equal(
    found.map(({ isPublished }) => isPublished),
    [false, true],
  )
})

const leavings: [node: Parameters<typeof makeNode>[0], reason: string][] = [
  [{}, ''],
  [{ labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' } }, 'excluded by its label'],
  [{ labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': 'false' } }, ''],
  [{ unschedulable: true }, 'cordoned'],
  [{ deletionTimestamp: '2026-01-01T00:00:00Z', unschedulable: true }, 'being deleted'],
]
for (const [node, reason] of leavings)
  test(`a node is ${reason || 'well'}`, () => {
    assert.is(controlPlaneWords.leaving[only(makeNode(node))?.leaving ?? -1], reason)
  })

test('nodes are sorted by name, and a foreign providerID is no machine', () => {
  const nodes = ['test://m3', 'test://m1', 'other://m1'].map((providerID, n) =>
    makeNode({ name: 'cab'.charAt(n), providerID }),
  )
  const found = controlPlaneNodes({ nodes, slices: [], shared, ids })
  assert.equal(
    found.map(({ name, machine }) => [name, machine]),
    [
      ['a', 'm1'],
      ['b', undefined],
      ['c', 'm3'],
    ],
  )
})

test.run()
