import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { nodeOrigins, originFacts } from '../../../controllers/balancers/node-origins.ts'
import { ids } from '../nodes/builders.ts'
import { makeNode } from './builders.ts'

const rules = {
  ids,
  isElsewhere: (region: string) => region === 'ny',
  isElastic: (address: string) => address === '203.0.113.7',
}
const namesOf = (...nodes: ReturnType<typeof makeNode>[]) => nodeOrigins(nodes, rules).nodes.map(({ node }) => node)
const exclude = 'node.kubernetes.io/exclude-from-external-load-balancers'
const region = 'topology.kubernetes.io/region'

test('every ready node is an origin by its external address, in the order of names', () => {
  const { nodes } = nodeOrigins([makeNode('worker-2'), makeNode('worker-1')], rules)
  assert.equal(nodes, [
    { node: 'worker-1', address: '198.51.100.11' },
    { node: 'worker-2', address: '198.51.100.12' },
  ])
})

const left: { name: string; facts: Parameters<typeof makeNode>[1] }[] = [
  { name: 'is not ready', facts: { ready: 'False' } },
  { name: 'has not been heard of', facts: { ready: 'Unknown' } },
  { name: 'is excluded, also by a value that means nothing', facts: { labels: { [exclude]: 'no' } } },
  { name: 'is being deleted', facts: { deletionTimestamp: 'now' } },
  { name: 'will be deleted by the autoscaler', facts: { taints: ['ToBeDeletedByClusterAutoscaler'] } },
  { name: 'is in another metro', facts: { labels: { [region]: 'ny' } } },
  { name: 'has no external address', facts: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } },
  { name: 'has only an IPv6 address', facts: { addresses: [{ type: 'ExternalIP', address: '2001:db8::1' }] } },
  { name: 'has only an address that may move', facts: { addresses: [{ type: 'ExternalIP', address: '203.0.113.7' }] } },
]
for (const { name, facts } of left) {
  test(`a node that ${name} is no origin`, () => {
    assert.equal(namesOf(makeNode('worker-1'), makeNode('worker-2', facts)), ['worker-1'])
  })
}

test('two Node objects of one machine are one origin', () => {
  const [one, copy] = ['worker-1', 'worker-2'].map((name) => makeNode(name))
  const spec = { providerID: 'equinixmetal://m-1' }
  assert.equal(namesOf({ ...one!, spec }, { ...copy!, spec }), ['worker-1'])
})

test('an address that may move is skipped, and the next one is taken', () => {
  const addresses = ['203.0.113.7', '198.51.100.12', '198.51.100.13'].map((address) => ({
    type: 'ExternalIP' as const,
    address,
  }))
  assert.equal(nodeOrigins([makeNode('worker-2', { addresses })], rules).nodes, [
    { node: 'worker-2', address: '198.51.100.12' },
  ])
})

test('while no node is ready, all usable nodes are origins', () => {
  const [one, two] = [makeNode('worker-1', { ready: 'Unknown' }), makeNode('worker-2', { ready: 'False' })]
  assert.equal(namesOf(one, two, makeNode('worker-3', { labels: { [exclude]: 'true' } })), ['worker-1', 'worker-2'])
})

test('a balancer that reaches no node says how many nodes are left out, and why', () => {
  const [one, two] = ['worker-1', 'worker-2'].map((name) => makeNode(name, { labels: { [exclude]: '' } }))
  const three = makeNode('worker-3', { addresses: [] })
  assert.equal(nodeOrigins([one!, two!, three], rules), {
    nodes: [],
    unreached:
      'its load balancer reaches no node of the cluster: 2 with the label ' +
      `${exclude}; 1 without its own external IPv4 address`,
  })
  assert.match(nodeOrigins([], rules).unreached ?? '', /: there is none$/)
})

test('a label with the value false excludes no node', () => {
  assert.equal(namesOf(makeNode('worker-1', { labels: { [exclude]: 'false' } })), ['worker-1'])
})

test('a region that is no other metro excludes no node', () => {
  assert.equal(namesOf(makeNode('worker-1', { labels: { [region]: 'da' } })), ['worker-1'])
})

test('only a change that matters to an origin changes its facts', () => {
  const base = originFacts(makeNode('worker-1'))
  assert.is(originFacts(makeNode('worker-1', { labels: { team: 'a' }, taints: ['other'] })), base)
  for (const { facts } of left) assert.is.not(originFacts(makeNode('worker-1', facts)), base)
  assert.is.not(originFacts(undefined), base)
})

test.run()
