import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Machine } from '../../../clouds/ports/machines.ts'
import { findMachine } from '../../../controllers/nodes/find-machine.ts'
import type { Node } from '../../../kube/objects.ts'
import { elastic, hostname, ids, internal, makeMachine, makeNode, own } from './builders.ts'

const machine = (id: string, name: string, ...addresses: string[]) =>
  makeMachine({ id, name, addresses: addresses.map((address) => own(address)) })

const cases: { name: string; node: Node; nodes?: Node[]; machines: Machine[]; found: string | RegExp }[] = [
  {
    name: 'a machine with an address that the kubelet got, whatever its name',
    node: makeNode({ nodeIp: '10.66.1.3' }),
    machines: [machine('m-1', 'worker-1', '10.66.1.5'), machine('m-2', 'other', '10.66.1.3')],
    found: 'm-2',
  },
  {
    name: 'a machine with an address that the kubelet reports',
    node: makeNode({ addresses: [internal('10.66.1.3'), hostname('worker-1')] }),
    machines: [machine('m-1', 'other', '10.66.1.3')],
    found: 'm-1',
  },
  {
    name: 'an IPv6 address in another spelling',
    node: makeNode({ nodeIp: '2001:DB8:0:0::2' }),
    machines: [machine('m-1', 'other', '2001:db8::2')],
    found: 'm-1',
  },
  {
    name: 'a machine of the same name where no address is known',
    node: makeNode({ nodeIp: '192.168.7.9' }),
    machines: [machine('m-1', 'worker-10', '10.66.1.3'), machine('m-2', 'worker-1', '10.66.1.5')],
    found: 'm-2',
  },
  {
    name: 'names are compared whole',
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
    name: 'several machines of the name are not guessed at',
    node: makeNode(),
    machines: [machine('m-1', 'worker-1'), machine('m-2', 'worker-1')],
    found: /^2 machines have the name worker-1: m-1, m-2\. Start the kubelet with --provider-id=/,
  },
  {
    name: 'of several machines with the address the name says which',
    node: makeNode({ nodeIp: '10.66.1.3' }),
    machines: [machine('m-1', 'other', '10.66.1.3'), machine('m-2', 'worker-1', '10.66.1.3')],
    found: 'm-2',
  },
  {
    name: 'and where it does not, nobody guesses',
    node: makeNode({ nodeIp: '10.66.1.3' }),
    machines: [machine('m-1', 'one', '10.66.1.3'), machine('m-2', 'two', '10.66.1.3'), machine('m-3', 'worker-1')],
    found: /^2 machines have an address of node worker-1: m-1, m-2/,
  },
  {
    name: 'the machine of another node is not chosen',
    node: makeNode({ nodeIp: '10.66.1.3' }),
    nodes: [makeNode({ name: 'first', providerID: 'packet://m-1' })],
    machines: [machine('m-1', 'first', '10.66.1.3')],
    found: /^machine m-1 already belongs to node first/,
  },
  {
    name: 'its own id, written by now, is no obstacle',
    node: makeNode({ nodeIp: '10.66.1.3' }),
    nodes: [makeNode({ providerID: 'equinixmetal://m-1' })],
    machines: [machine('m-1', 'worker-1', '10.66.1.3')],
    found: 'm-1',
  },
]
for (const { name, node, nodes = [], machines, found } of cases)
  test(name, () => {
    const answer = findMachine(node, { machines, nodes, ids })
    if (typeof found === 'string') assert.is('machine' in answer && answer.machine.id, found)
    else assert.match('problem' in answer ? answer.problem : 'found', found)
  })

test.run()
