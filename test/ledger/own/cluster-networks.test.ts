import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Node } from '../../../kube/objects.ts'
import { serviceCIDRs } from '../../../kube/resource.ts'
import { clusterNetworks } from '../../../ledger/own/cluster-networks.ts'
import { parseIpAddress } from '../../../lib/ip-address.ts'
import { makeService } from '../../builders.ts'
import { apiServer } from '../../fakes/api-server.ts'
import { silentLog } from '../../fakes/log.ts'

const { signal } = new AbortController()

function makeNode(name: string, spec: Node['spec']): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, spec }
}

type Facts = { serviceRanges?: string[]; clusterIP?: string; nodes?: Node[] }

/** A cluster with these Service ranges, whose API server is at `clusterIP`, and a cache of its nodes. */
function cluster({ serviceRanges = [], clusterIP = '10.96.0.1', nodes = [] }: Facts) {
  const api = apiServer()
  if (serviceRanges.length > 0)
    api.put(serviceCIDRs, {
      apiVersion: serviceCIDRs.apiVersion,
      kind: serviceCIDRs.kind,
      metadata: { name: 'kubernetes' },
      spec: { cidrs: serviceRanges },
    })
  const cached = new Map(nodes.map((node) => [node.metadata.name, node]))
  const listeners: ((name: string, current?: Node, previous?: Node) => void)[] = []
  const kubernetes = makeService({ name: 'kubernetes', type: 'ClusterIP', clusterIP })
  const networks = clusterNetworks({
    client: api.client,
    caches: {
      nodes: { list: () => [...cached.values()], onChange: (listener) => void listeners.push(listener) },
      services: { get: (key) => (key === 'default/kubernetes' ? kubernetes : undefined), list: () => [kubernetes] },
    },
    log: silentLog,
    now: () => 0,
  })
  let changes = 0
  networks.onChange(() => changes++)
  return {
    networks,
    refresh: () => networks.refresh(signal),
    what: (text: string) => {
      const address = parseIpAddress(text)
      return address && networks.of(address)
    },
    claim: (text: string) => {
      const address = parseIpAddress(text)
      return address && networks.nodeClaim(address)
    },
    /** How often the claims of Nodes changed. */
    changes: () => changes,
    forget: (name: string) => {
      const previous = cached.get(name)
      cached.delete(name)
      for (const listener of listeners) listener(name, undefined, previous)
    },
    /** The cache learns of a node. */
    observe: (node: Node) => {
      const previous = cached.get(node.metadata.name)
      cached.set(node.metadata.name, node)
      for (const listener of listeners) listener(node.metadata.name, node, previous)
    },
  }
}

test('every address of the Service ranges belongs to the cluster, not only the one of the API server', async () => {
  const { what, refresh } = cluster({ serviceRanges: ['10.96.0.0/16', 'fd00:96::/112'] })
  await refresh()
  for (const address of ['10.96.0.1', '10.96.0.10', '10.96.255.254', 'fd00:96::a'])
    assert.is(what(address), 'in a Service range', address)
  for (const address of ['10.97.0.1', '203.0.113.40', 'fd00:97::a']) assert.is(what(address), undefined, address)
})

test('if the API server publishes no Service ranges, its own address is the cluster’s', async () => {
  const { what, refresh } = cluster({ clusterIP: '172.20.0.1' })
  await refresh()
  assert.is(what('172.20.0.1'), 'in a Service range')
  assert.is(what('172.20.0.10'), undefined)
})

/** A Node as its kubelet may write it. */
const claims: [what: string, spec: Node['spec'], address: string, claim: string | undefined][] = [
  ['a pod range', { podCIDR: '10.244.1.0/24' }, '10.244.1.7', 'is in a pod range of this cluster (node one)'],
  ['an address outside of it', { podCIDR: '10.244.1.0/24' }, '10.244.2.7', undefined],
  [
    'a range of each family',
    { podCIDR: '10.244.2.0/24', podCIDRs: ['10.244.2.0/24', 'fd00:10:2::/64'] },
    'fd00:10:2::7',
    'is in a pod range of this cluster (node one)',
  ],
  [
    'the widest range of one node',
    { podCIDR: '10.1.0.0/16' },
    '10.1.2.3',
    'is in a pod range of this cluster (node one)',
  ],
  ['a range of many nodes', { podCIDR: '10.0.0.0/15' }, '10.1.2.3', undefined],
  [
    'the widest IPv6 range of one node',
    { podCIDR: 'fd00:1:2::/48' },
    'fd00:1:2:3::4',
    'is in a pod range of this cluster (node one)',
  ],
  ['an IPv6 range of many nodes', { podCIDR: 'fd00:1::/32' }, 'fd00:1:2:3::4', undefined],
  ['every address', { podCIDR: '0.0.0.0/0' }, '10.1.2.3', undefined],
  ['every IPv6 address', { podCIDRs: ['::/0'] }, 'fd00:1:2:3::4', undefined],
  ['public addresses', { podCIDR: '203.0.113.0/24' }, '203.0.113.7', undefined],
  ['no range', { podCIDR: 'nonsense' }, '10.1.2.3', undefined],
]
for (const [what, spec, text, claim] of claims)
  test(`a Node claims ${what}: ${claim ?? 'no claim'}`, () => {
    assert.is(cluster({ nodes: [makeNode('one', spec)] }).claim(text), claim)
  })

test('a Node claims its addresses, and is no network of the cluster', () => {
  const node = {
    ...makeNode('one', {}),
    status: { addresses: [{ type: 'InternalIP' as const, address: '203.0.113.7' }] },
  }
  const { claim, what } = cluster({ nodes: [node] })
  assert.is(claim('203.0.113.7'), 'is assigned to node one')
  assert.is(what('203.0.113.7'), undefined)
  assert.is(cluster({ nodes: [makeNode('one', { podCIDR: '10.244.1.0/24' })] }).what('10.244.1.7'), undefined)
})

test('a claim ends with its Node, and every change of one is reported', () => {
  const { claim, observe, forget, changes } = cluster({ nodes: [makeNode('one', { podCIDR: '10.244.1.0/24' })] })
  assert.is(claim('10.244.2.7'), undefined)
  observe(makeNode('two', { podCIDR: '10.244.2.0/24' }))
  assert.match(claim('10.244.2.7') ?? '', 'node two')
  observe(makeNode('two', { podCIDR: '10.244.3.0/24' }))
  assert.equal([claim('10.244.2.7'), claim('10.244.3.7')?.slice(-10)], [undefined, '(node two)'])
  assert.is(changes(), 2)
  observe({ ...makeNode('two', { podCIDR: '10.244.3.0/24' }), metadata: { name: 'two', labels: { a: 'b' } } })
  assert.is(changes(), 2)
  forget('two')
  assert.equal([claim('10.244.3.7'), changes()], [undefined, 3])
})

test.run()
