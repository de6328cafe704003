import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Machine } from '../../../clouds/ports/machines.ts'
import { findMachine, oneNodeForEach } from '../../../controllers/nodes/node-machine.ts'
import type { Node } from '../../../kube/objects.ts'
import { elastic, hostname, ids, internal, makeMachine, makeNode, own } from './builders.ts'
import { testRows } from '../../drawn-rows.ts'

const [outside, inside, otherInside] = ['203.0.113.2', '10.0.0.2', '10.0.0.3']

/** A machine with these addresses; 203.0.113.0/24 is public. */
const machine = (id: string, name: string, ...addresses: string[]) =>
  makeMachine({ id, name, addresses: addresses.map((address) => own(address, address.startsWith('203.'))) })

const worker = makeNode({ nodeIp: inside })
const publicWorker = makeNode({ nodeIp: outside })

const cases: { name: string; node?: Node; nodes?: Node[]; machines: Machine[]; found: string | RegExp }[] = [
  {
    name: 'one named, and no machine has an address of the node',
    machines: [machine('m-1', 'worker-10', '10.66.1.3'), machine('m-2', 'worker-1', otherInside)],
    found: 'm-2',
  },
  {
    name: 'one named, which has the public address',
    node: publicWorker,
    machines: [machine('m-1', 'other', '203.0.113.9'), machine('m-2', 'worker-1', outside)],
    found: 'm-2',
  },
  {
    name: 'one named, and another one has the same private address: two networks begin alike',
    machines: [machine('m-1', 'staging-web', inside), machine('m-2', 'worker-1', inside)],
    found: 'm-2',
  },
  {
    name: 'one named, and another one has the public address',
    node: publicWorker,
    machines: [machine('m-1', 'worker-1', '203.0.113.9'), machine('m-2', 'other', outside)],
    found:
      /^2 machines may be node worker-1: m-1 \(named worker-1\), m-2 \(named other, has its address 203\.0\.113\.2\)\. Start the kubelet with --provider-id=/,
  },
  {
    name: 'one named whose private address is not shown yet, and another one has it',
    machines: [machine('m-1', 'staging-web', inside), machine('m-2', 'worker-1', '203.0.113.9')],
    found:
      /^2 machines may be node worker-1: m-2 \(named worker-1\), m-1 \(named staging-web, has its address 10\.0\.0\.2\)/,
  },
  {
    name: 'one named with another private address, and another one has that of the node',
    machines: [machine('m-1', 'staging-web', inside), machine('m-2', 'worker-1', otherInside)],
    found: /^2 machines may be node worker-1: /,
  },
  {
    name: 'several named, of which one has the public address',
    node: publicWorker,
    machines: [machine('m-1', 'worker-1', '203.0.113.9'), machine('m-2', 'worker-1', outside)],
    found: 'm-2',
  },
  {
    name: 'several named, of which one has the private address',
    machines: [machine('m-1', 'worker-1', inside), machine('m-2', 'worker-1', otherInside)],
    found: 'm-1',
  },
  {
    name: 'several named, none with an address of the node',
    machines: [machine('m-1', 'worker-1'), machine('m-2', 'worker-1')],
    found: /^2 machines may be node worker-1: m-1 \(named worker-1\), m-2 \(named worker-1\)/,
  },
  {
    name: 'several named, all with the private address',
    machines: [machine('m-1', 'worker-1', inside), machine('m-2', 'worker-1', inside)],
    found: /^2 machines may be node worker-1: /,
  },
  {
    name: 'none named, and one has the public address',
    node: publicWorker,
    machines: [machine('m-1', 'other', outside), machine('m-2', 'another', inside)],
    found: 'm-1',
  },
  {
    name: 'none named, and several have the public address',
    node: publicWorker,
    machines: [machine('m-1', 'other', outside), machine('m-2', 'another', outside)],
    found: /^2 machines may be node worker-1: /,
  },
  {
    name: 'none named, and the one with the private address is akin',
    machines: [machine('m-1', 'Worker-1.example.com', inside), machine('m-2', 'staging-web', inside)],
    found: 'm-1',
  },
  {
    name: 'none named, and several with the private address are akin',
    machines: [machine('m-1', 'worker-1.a.example', inside), machine('m-2', 'worker-1.b.example', inside)],
    found: /^2 machines may be node worker-1: /,
  },
  {
    name: 'none named, and the one with the private address has the host name in another domain',
    node: makeNode({ name: 'worker-1.prod.example', nodeIp: inside }),
    machines: [machine('m-1', 'worker-1.staging.example', inside)],
    found: /^no machine has the name worker-1\.prod\.example\. /,
  },
  {
    name: 'none named, and the one with the private address has the host name of the node',
    node: makeNode({ name: 'worker-1.prod.example', nodeIp: inside }),
    machines: [machine('m-1', 'worker-1', inside)],
    found: 'm-1',
  },
  {
    name: 'none named, and a stranger has the private address',
    node: makeNode({ name: 'edge-1', nodeIp: inside }),
    machines: [machine('m-7', 'ci-runner', inside, outside)],
    found:
      /^no machine has the name edge-1\. Another private network can have the same address, so that alone does not prove that it is m-7 \(named ci-runner, has its address 10\.0\.0\.2\)\. .*--provider-id=equinixmetal:/,
  },
  {
    name: 'none named, and none has an address of the node',
    machines: [machine('m-1', 'other', otherInside)],
    found: /^no machine has one of the addresses 10\.0\.0\.2 or the name worker-1\. Give /,
  },
  {
    name: 'an address that the kubelet reports',
    node: makeNode({ addresses: [internal(outside), hostname('worker-1')] }),
    machines: [machine('m-1', 'other', outside)],
    found: 'm-1',
  },
  {
    name: 'an IPv6 address in another spelling',
    node: makeNode({ nodeIp: '2001:DB8:0:0::2' }),
    machines: [makeMachine({ name: 'other', addresses: [own('2001:db8::2', true)] })],
    found: 'm-1',
  },
  {
    name: 'without an address names are compared whole',
    node: makeNode(),
    machines: [machine('m-1', 'worker-1.example.com'), machine('m-2', 'WORKER-1')],
    found: /^no machine has the name worker-1\. .*--provider-id=equinixmetal:/,
  },
  {
    name: 'an elastic address is no sign of who somebody is',
    node: makeNode({ nodeIp: '198.51.100.1' }),
    machines: [makeMachine({ id: 'm-1', name: 'other', addresses: [elastic('198.51.100.1')] })],
    found: /^no machine has one of the addresses 198\.51\.100\.1 or the name worker-1/,
  },
  {
    name: 'the machine of another node is not chosen',
    node: publicWorker,
    nodes: [makeNode({ name: 'first', providerID: 'packet://m-1' })],
    machines: [machine('m-1', 'first', outside)],
    found: /^machine m-1 already belongs to node first/,
  },
  {
    name: 'its own id, written by now, is no obstacle',
    nodes: [makeNode({ providerID: 'equinixmetal://m-1' })],
    machines: [machine('m-1', 'worker-1', inside)],
    found: 'm-1',
  },
]
for (const { name, node = worker, nodes = [], machines, found } of cases)
  test(name, () => {
    const answer = findMachine(node, { machines, nodes, ids })
    if (typeof found === 'string') assert.is('machine' in answer && answer.machine.id, found)
    else assert.match('problem' in answer ? answer.problem : 'found', found)
  })

type Shape = {
  ready?: 'True' | 'Unknown'
  since?: number
  created?: number
  host?: string
  isDeleted?: true
  id?: string
}

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()

/** A Node object of machine m-1, unless another one is named. */
function object(name: string, { ready = 'True', since, created = 0, host, isDeleted, id = 'm-1' }: Shape): Node {
  const node = makeNode({ name, providerID: `equinixmetal://${id}` })
  const metadata = { ...node.metadata, creationTimestamp: at(created), ...(isDeleted && { deletionTimestamp: at(9) }) }
  const condition = { type: 'Ready', status: ready, lastTransitionTime: since === undefined ? null : at(since) }
  const nodeInfo = host === undefined ? {} : { nodeInfo: { machineID: host, systemUUID: host } }
  return { ...node, metadata, status: { conditions: [condition], ...nodeInfo } }
}

const [dead, stays] = [{ ready: 'Unknown' as const }, { host: 'one' }]
const objects: { name: string; named?: string; nodes: Record<string, Shape>; speak: string[] }[] = [
  { name: 'two machines', nodes: { a: { id: 'm-1' }, b: { id: 'm-2' } }, speak: ['a', 'b'] },
  { name: 'a deleted object', nodes: { a: { isDeleted: true }, b: dead }, speak: ['b'] },
  {
    name: 'a deleted object with the name of the machine',
    named: 'a',
    nodes: { a: { isDeleted: true }, b: {} },
    speak: ['b'],
  },
  { name: 'only a deleted object', nodes: { a: { isDeleted: true } }, speak: ['a'] },
  {
    name: 'renamed on the same host, although the old object has the name of the machine',
    named: 'a',
    nodes: { a: { ...stays, ...dead, since: 6 }, b: { ...stays, created: 5 } },
    speak: ['b'],
  },
  {
    name: 'not renamed: the later object is on another host',
    nodes: { a: { ...stays, ...dead, since: 6 }, b: { host: 'two', created: 5 } },
    speak: ['a'],
  },
  {
    name: 'renamed after the old object had stopped',
    nodes: { a: { ...dead, since: 4 }, b: { created: 5 } },
    speak: ['b'],
  },
  {
    name: 'the machine is dead and a copy is ready: the copy was there while the machine still answered',
    nodes: { a: { ...dead, since: 6 }, b: { created: 5 } },
    speak: ['a'],
  },
  {
    name: 'the machine is dead and an older copy is ready',
    nodes: { a: {}, b: { ...dead, created: 5 } },
    speak: ['b'],
  },
  {
    name: 'the object with the name of the machine speaks, although another one is not ready',
    named: 'b',
    nodes: { a: dead, b: { created: 5 } },
    speak: ['b'],
  },
  { name: 'otherwise the oldest speaks', nodes: { a: { created: 5 }, b: {} }, speak: ['b'] },
]
for (const { name, named, nodes, speak } of objects)
  for (const order of ['as listed', 'reversed'])
    test(`Node objects of one machine, ${order}: ${name}`, () => {
      const all = Object.entries(nodes).map(([node, shape]) => object(node, shape))
      const machines = named === undefined ? undefined : [makeMachine({ name: named })]
      const chosen = oneNodeForEach(order === 'reversed' ? all.toReversed() : all, { ids, machines })
      assert.equal(chosen.map(({ metadata }) => metadata.name).toSorted(), speak)
    })

test('nodes without a machine of this cloud are all there', () => {
  const foreign = ['a', 'b'].map((name) => makeNode({ name, providerID: 'aws:///eu-west-1a/i-01' }))
  assert.equal(oneNodeForEach([...foreign, makeNode({ name: 'c' })], { ids }).length, 3)
})

/** The words of an answer in the table. */
const wordOf = (found: string | RegExp) =>
  typeof found === 'string'
    ? 'the named one|that one'
    : /no machine/.test(String(found))
      ? 'not found'
      : 'ambiguous|says who'
testRows(
  'controllers/nodes/node-machine.ts',
  cases.map(({ name, found }) => [name, wordOf(found)]),
  [
    'one named, and no machine has an address of the node',
    'one named, which has the public address',
    'one named, and another one has the same private address: two networks begin alike',
    'one named, and another one has the public address',
    'one named with another private address, and another one has that of the node',
    'several named, of which one has the public address',
    'several named, of which one has the private address',
    'several named, none with an address of the node',
    'none named, and one has the public address',
    'none named, and several have the public address',
    'none named, and the one with the private address is akin',
    'none named, and several with the private address are akin',
    'none named, and a stranger has the private address',
    'none named, and none has an address of the node',
  ],
)

test.run()
