import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type ServiceNodeFacts,
  servedBy,
  serviceNodes,
  serviceWords,
  withoutUnused,
} from '../../../controllers/assigning/service-nodes.ts'
import { planMove } from '../../../controllers/moves/move-plan.ts'
import { noProbes, type ProbeHistory } from '../../../controllers/moves/probe-history.ts'
import type { Machine } from '../../../clouds/ports/machines.ts'
import { makeService } from '../../builders.ts'
import { elastic, makeMachine, own } from '../nodes/builders.ts'
import type { EndpointConditions, EndpointSlice, Node, Service } from '../../../kube/objects.ts'

const answered: ProbeHistory = { failures: 0, successes: 9, formerSuccesses: 0, answeredAtMs: 1 }
const silent: ProbeHistory = { failures: 3, successes: 0, formerSuccesses: 9, answeredAtMs: 1, reason: 'no answer' }
const recovered: ProbeHistory = { failures: 0, successes: 1, formerSuccesses: 9, answeredAtMs: 2 }
const never: ProbeHistory = { failures: 30, successes: 0, formerSuccesses: 0, reason: 'no answer' }

type Change = { spec?: Partial<Node['spec']>; metadata?: Partial<Node['metadata']>; ready?: 'True' | 'Unknown' }

function node(name: string, { spec, metadata, ready = 'True' }: Change = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, ...metadata },
    spec: { providerID: `hcloud://${name.charCodeAt(0)}`, ...spec },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  }
}

const ids = { scheme: 'hcloud', older: [], id: /^\d+$/ }
const [machineA, machineB] = ['97', '98']
const heavyOnA = (id: string) => (id === machineA ? 2 : 1)
const heavyOnB = (id: string) => (id === machineB ? 2 : 1)
const on = (...nodes: string[]) => ({ nodes: new Set(nodes), isLocal: false })
const onlyOn = (...nodes: string[]) => ({ nodes: new Set(nodes), isLocal: true })

function rows(nodes: Node[], facts: Partial<ServiceNodeFacts> = {}) {
  const none = { services: [], holder: undefined, beside: new Set<string>(), home: [] }
  const base = { address: '203.0.113.1', ids, ...none, probes: () => noProbes, load: () => 0, queue: () => 0 }
  return serviceNodes({ ...base, nodes, ...facts })
}

/** The nodes in their order: `a` is well, `a!` failed, `a-3` has that reason to leave. */
const text = (nodes: Node[], facts?: Partial<ServiceNodeFacts>) =>
  rows(nodes, facts)
    .map(({ name, leaving, probes }) => name + (probes.failures > 0 ? '!' : '') + (leaving > 0 ? `-${leaving}` : ''))
    .join(' ')

const [a, b, c] = [node('a'), node('b'), node('c')]
const excluded = { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': '' } }
const notExcluded = { labels: { 'node.kubernetes.io/exclude-from-external-load-balancers': 'false' } }
const taint = (key: string) => ({ spec: { taints: [{ key, effect: 'NoSchedule' as const }] } })

const machineOf = (id: string, facts: Partial<Machine>) => makeMachine({ id, zone: undefined, ...facts })
const hidden = machineOf(machineA, { addresses: [own('10.66.1.3'), elastic('203.0.113.7')] })
const only6 = machineOf(machineA, { addresses: [own('2001:db8::2', true)] })
const inFsn = machineOf(machineB, { region: 'fsn1', networkZone: 'eu-central', addresses: [own('203.0.113.2', true)] })
const inNbg = machineOf(machineA, { region: 'nbg1', networkZone: 'eu-central' })
const inAsh = machineOf('99', { region: 'ash', networkZone: 'us-east' })
const home = ['fsn1', 'eu-central']
const smallA = machineOf(machineA, { maxAddresses: 2, addresses: [own('203.0.113.2', true)] })
const largeB = machineOf(machineB, { addresses: [own('203.0.113.3', true)] })
const small = { machines: [smallA, largeB], services: [on('a')] }

const cases: [what: string, nodes: Node[], facts: Partial<ServiceNodeFacts>, expected: string][] = [
  ['under policy Local nodes without an endpoint leave', [a, b], { services: [onlyOn('b')] }, 'a-1 b'],
  ['under policy Local without endpoints all are alike', [a, b], { services: [onlyOn()] }, 'a-1 b-1'],
  ['a cordoned node stays', [node('a', { spec: { unschedulable: true } }), b], {}, 'a b'],
  ['a node that is not ready failed', [node('a', { ready: 'Unknown' }), b], {}, 'a! b'],
  ['an excluded node', [node('a', { metadata: excluded }), b], {}, 'a-3 b'],
  ['a label with the value false excludes nothing', [node('a', { metadata: notExcluded }), b], {}, 'a b'],
  ['an excluded holder leaves', [node('a', { metadata: excluded }), b], { holder: machineA }, 'a-3 b'],
  ['a machine that is off', [node('a', taint('node.cloudprovider.kubernetes.io/shutdown')), b], {}, 'a-4 b'],
  ['a machine that the autoscaler takes', [node('a', taint('ToBeDeletedByClusterAutoscaler')), b], {}, 'a-4 b'],
  ['a deleted node', [node('a', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }), b], {}, 'a-5 b'],
  ['a machine without a public address leaves to others', [a, b], { machines: [hidden, inFsn] }, 'a-2 b'],
  ['also if it has an endpoint', [a, b], { machines: [hidden, inFsn], services: [onlyOn('a')] }, 'a-2 b-1'],
  ['the holder has shown that it can', [a, b], { machines: [hidden, inFsn], holder: machineA }, 'a b'],
  ['each family counts for itself', [a, b], { machines: [only6, inFsn], address: '2001:db8:9::1' }, 'a b-2'],
  ['a machine that no list showed yet may do', [a, b], { machines: [inFsn] }, 'a b'],
]
for (const [what, nodes, facts, expected] of cases)
  test(what, () => assert.is(text(nodes, facts).split(' ').toSorted().join(' '), expected))

test('an excluded node is never chosen, and messages count it', () => {
  const all = rows([node('a', { metadata: excluded }), node('b', { metadata: excluded })])
  const facts = { former: undefined, strangerForMs: 0, address: undefined, refused: new Map(), pause: () => undefined }
  const rules = { failures: 1, successes: 1 }
  const decision = planMove({ ...facts, nodes: all, assigned: [], rules, words: serviceWords })
  assert.match(
    'problem' in decision ? `${decision.do} ${decision.problem}` : '',
    /^wait .*; 2 healthy nodes have the label node\.kubernetes\.io/,
  )
})

const orders: [what: string, nodes: Node[], facts: Partial<ServiceNodeFacts>, first: string][] = [
  ['a node with an endpoint comes first', [a, b, c], { services: [on('b')] }, 'b'],
  ['a cordoned node comes after others', [node('a', { spec: { unschedulable: true } }), b], {}, 'b'],
  ['the machine with fewer addresses comes first', [a, b], { load: (id) => (id === machineA ? 2 : 1) }, 'b'],
  [
    'the machine at which fewer changes wait comes first',
    [a, b],
    { queue: (id) => (id === machineA ? 1 : 0), load: heavyOnB },
    'b',
  ],
  ['the machine with the other address comes first', [a, b], { beside: new Set([machineB]), load: heavyOnB }, 'b'],
  ['not before one with an endpoint', [a, b], { beside: new Set([machineB]), services: [on('a')] }, 'a'],
  ['the home location comes before load', [a, b], { home, machines: [inNbg, inFsn], load: heavyOnB }, 'b'],
  ['its network zone comes next', [a, c], { home, machines: [inNbg, inAsh], load: heavyOnA }, 'a'],
  ['a node with an endpoint comes before it', [a, b], { home, machines: [inNbg, inFsn], services: [on('a')] }, 'a'],
  ['a full machine comes last, though the endpoints are there', [a, b], { ...small, load: heavyOnA }, 'b'],
  ['the holder of the last place is not full', [a, b], { ...small, load: heavyOnA, holder: machineA }, 'a'],
  ['the address itself is no load', [a, b], { holder: machineA, load: () => 2 }, 'a'],
]
for (const [what, nodes, facts, first] of orders) test(what, () => assert.is(rows(nodes, facts)[0]?.name, first))

const failedOnes = (probes: Record<string, ProbeHistory>) =>
  rows([a, b, c], { probes: (name) => probes[name] ?? noProbes })
    .filter((one) => one.probes.failures > 0)
    .map(({ name }) => name)
    .toSorted()

test('probes count for nodes that have answered before, while at most half of them fail', () => {
  assert.equal(failedOnes({ a: silent, b: answered, c: answered }), ['a'])
  assert.equal(failedOnes({ a: silent, b: answered }), ['a'])
  assert.equal(failedOnes({ a: silent, b: silent, c: answered }), [], 'our own network is the suspect')
  assert.equal(failedOnes({ a: never, b: never, c: never }), [], 'a firewall may be between')
})

test('nodes that Kubernetes calls not Ready too, such as one that died long ago, delay no move from another node', () => {
  const dead = node('a', { ready: 'Unknown' })
  const probes = new Map([['c', answered]])
  const failed = (nodes: Node[]) => text(nodes, { probes: (name) => probes.get(name) ?? silent })
  assert.is(failed([dead, b, c]).split(' ').toSorted().join(' '), 'a! b! c')
  assert.is(failed([dead, b]).split(' ').toSorted().join(' '), 'a! b', 'no node answers')
})

test('after an outage of our own network, nodes answer again one after another: the last one has not failed', () => {
  assert.equal(failedOnes({ a: silent, b: recovered, c: recovered }), [])
  assert.equal(failedOnes({ a: silent, b: recovered, c: answered }), [])
  const two = { ...recovered, successes: 2 }
  const three = { ...recovered, successes: 3 }
  assert.equal(failedOnes({ a: silent, b: two, c: three }), [])
  assert.equal(failedOnes({ a: silent, b: three, c: three }), ['a'], 'the others answer, and it still does not')
})

test('a node of another cloud has no machine', () => {
  const robot = node('r', { spec: { providerID: 'hcloud://bm-7' } })
  const machines = new Map(rows([robot, a]).map(({ name, machine }) => [name, machine]))
  assert.equal([machines.get('a'), machines.get('r')], [machineA, undefined])
})

test('two Node objects of one machine are one candidate', () => {
  const [one, copy] = [node('a', { ready: 'Unknown' }), node('c', { spec: { providerID: 'hcloud://97' } })]
  assert.is(text([copy, b, one]), text([b, one]))
  assert.equal(
    text([copy, b, one], { machines: [makeMachine({ id: '97', name: 'c' })] })
      .split(' ')
      .toSorted(),
    ['b', 'c'],
  )
})

test('each address orders equal nodes differently, so that addresses are spread', () => {
  const first = Array.from({ length: 30 }, (_, n) => rows([a, b, c], { address: `203.0.113.${n}` })[0]?.name ?? '')
  assert.equal([...new Set(first)].toSorted(), ['a', 'b', 'c'])
})

test('a Service is served where its own endpoints are ready, else where they terminate', () => {
  const web = makeService({ name: 'web' })
  const slice = (...endpoints: [nodeName: string, conditions?: EndpointConditions][]): EndpointSlice => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'web-1', namespace: 'default', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: endpoints.map(([nodeName, conditions]) => ({
      addresses: [],
      nodeName,
      ...(conditions && { conditions }),
    })),
  })
  const served = (...slices: EndpointSlice[]) => [...servedBy(web, slices.map(withoutUnused)).nodes]
  const ending = { ready: false, serving: true, terminating: true }
  assert.equal(served(slice(['a'], ['b', { ready: false }])), ['a'])
  assert.equal(served(slice(['a', { ready: true }], ['b', ending])), ['a'])
  assert.equal(served(slice(['b', ending], ['c', { ready: false, serving: false }])), ['b'])
  assert.equal(served(), [])
  const ofWeb = slice(['a'])
  const { metadata } = ofWeb
  assert.equal(served({ ...ofWeb, metadata: { ...metadata, namespace: 'tenant' } }), [])
  assert.equal(served({ ...ofWeb, metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'db' } } }), [])
})

test('only under policy Local no other node can serve a Service', () => {
  const web = makeService()
  const isLocal = (spec: Partial<Service['spec']>) => servedBy({ ...web, spec: { ...web.spec, ...spec } }, []).isLocal
  assert.ok(isLocal({ externalTrafficPolicy: 'Local' }))
  assert.not(isLocal({ externalTrafficPolicy: 'Cluster' }))
  assert.not(isLocal({}))
})

test.run()
