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
  return {
    networks,
    refresh: () => networks.refresh(signal),
    what: (text: string) => {
      const address = parseIpAddress(text)
      return address && networks.of(address)
    },
    /** The cache learns of a node. */
    observe: (node: Node) => {
      const previous = cached.get(node.metadata.name)
      cached.set(node.metadata.name, node)
      for (const listener of listeners) listener(node.metadata.name, node, previous)
    },
  }
}

test('every address of the Service ranges is the cluster’s, not only that of the API server', async () => {
  const { what, refresh } = cluster({ serviceRanges: ['10.96.0.0/16', 'fd00:96::/112'] })
  await refresh()
  for (const address of ['10.96.0.1', '10.96.0.10', '10.96.255.254', 'fd00:96::a'])
    assert.is(what(address), 'in a Service range', address)
  for (const address of ['10.97.0.1', '203.0.113.40', 'fd00:97::a']) assert.is(what(address), undefined, address)
})

test('where the API server tells no Service ranges, its own address is the cluster’s', async () => {
  const { what, refresh } = cluster({ clusterIP: '172.20.0.1' })
  await refresh()
  assert.is(what('172.20.0.1'), 'in a Service range')
  assert.is(what('172.20.0.10'), undefined)
})

test('the addresses of pods are the cluster’s', () => {
  const { what } = cluster({
    nodes: [
      makeNode('one', { podCIDR: '10.244.1.0/24' }),
      makeNode('two', { podCIDR: '10.244.2.0/24', podCIDRs: ['10.244.2.0/24', 'fd00:10:2::/64'] }),
    ],
  })
  for (const address of ['10.244.1.7', '10.244.2.7', 'fd00:10:2::7'])
    assert.is(what(address), 'in a pod range', address)
  for (const address of ['10.244.3.7', 'fd00:10:3::7']) assert.is(what(address), undefined, address)
})

test('the pods of a node that joins later are known, and those of one whose range changes', () => {
  const { what, observe } = cluster({ nodes: [makeNode('one', { podCIDR: '10.244.1.0/24' })] })
  assert.is(what('10.244.2.7'), undefined)
  observe(makeNode('two', { podCIDR: '10.244.2.0/24' }))
  assert.is(what('10.244.2.7'), 'in a pod range')
  observe(makeNode('two', { podCIDR: '10.244.3.0/24' }))
  assert.equal([what('10.244.2.7'), what('10.244.3.7')], [undefined, 'in a pod range'])
  assert.is(what('10.244.1.7'), 'in a pod range')
})

test.run()
