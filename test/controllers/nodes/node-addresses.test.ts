import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Machine } from '../../../clouds/ports/machines.ts'
import { machineAddresses, nodeAddresses } from '../../../controllers/nodes/node-addresses.ts'
import type { Node, NodeAddress } from '../../../kube/objects.ts'
import { elastic, external, hostname, internal, makeMachine, makeNode, own } from './builders.ts'

const name = hostname('worker-1')
const usual = [name, internal('10.66.1.3'), external('203.0.113.2'), external('2001:db8::2')]

const cases: { name: string; node: Node; machine?: Machine; addresses: NodeAddress[] | undefined }[] = [
  { name: 'a node without addresses gets those of its machine', node: makeNode(), addresses: usual },
  { name: 'a node that shows them is left alone', node: makeNode({ addresses: usual }), addresses: undefined },
  {
    name: 'the order counts: the first of a family is the one that is used',
    node: makeNode({ addresses: usual.toReversed() }),
    addresses: usual,
  },
  {
    name: 'two addresses of one type are kept apart',
    node: makeNode({ addresses: [name, internal('10.66.1.3'), external('203.0.113.2'), external('203.0.113.2')] }),
    addresses: usual,
  },
  {
    name: 'the name that the kubelet has said stays',
    node: makeNode({ addresses: [hostname('worker-1.example.com')] }),
    addresses: [hostname('worker-1.example.com'), ...usual.slice(1)],
  },
  {
    name: 'what the kubelet got comes first',
    node: makeNode({ nodeIp: '10.66.1.3' }),
    addresses: [internal('10.66.1.3'), name, ...usual.slice(2)],
  },
  {
    name: 'and is of the type that the provider says',
    node: makeNode({ nodeIp: '203.0.113.2' }),
    addresses: [external('203.0.113.2'), name, internal('10.66.1.3'), external('2001:db8::2')],
  },
  {
    name: 'in both families',
    node: makeNode({ nodeIp: '10.66.1.3, 2001:DB8:0::2' }),
    addresses: [internal('10.66.1.3'), external('2001:db8::2'), name, external('203.0.113.2')],
  },
  {
    name: 'IPv6 before IPv4 where it got them so',
    node: makeNode({ nodeIp: 'fd00::3,10.66.1.3' }),
    addresses: [internal('fd00::3'), internal('10.66.1.3'), name, external('2001:db8::2'), external('203.0.113.2')],
  },
  {
    name: 'an address of a VLAN takes the place of the private one that the provider knows, once',
    node: makeNode({ nodeIp: '192.168.7.9', addresses: [internal('192.168.7.9'), name] }),
    addresses: [internal('192.168.7.9'), name, ...usual.slice(2)],
  },
  {
    name: 'a private Elastic IP that the kubelet got is respected',
    node: makeNode({ nodeIp: '10.99.0.1' }),
    machine: makeMachine({
      addresses: [own('10.66.1.3'), { address: '10.99.0.1', isPublic: false, isElastic: true }],
    }),
    addresses: [internal('10.99.0.1'), name],
  },
  {
    name: 'the kubelet got only a family',
    node: makeNode({ nodeIp: '::' }),
    addresses: [name, internal('10.66.1.3'), external('2001:db8::2'), external('203.0.113.2')],
  },
  { name: 'what is no address does not count', node: makeNode({ nodeIp: 'eth0,' }), addresses: usual },
  {
    name: 'an elastic address is not shown, since it moves',
    node: makeNode(),
    machine: makeMachine({ addresses: [elastic('198.51.100.1'), own('10.66.1.3'), own('203.0.113.2', true)] }),
    addresses: [name, internal('10.66.1.3'), external('203.0.113.2')],
  },
  {
    name: 'one that a predecessor showed goes',
    node: makeNode({ addresses: [...usual, external('198.51.100.1')] }),
    addresses: usual,
  },
  {
    name: 'where the provider knows no private address, what the kubelet found stays',
    node: makeNode({ addresses: [internal('192.168.7.9'), name] }),
    machine: makeMachine({ addresses: [own('203.0.113.2', true)] }),
    addresses: [name, internal('192.168.7.9'), external('203.0.113.2')],
  },
  {
    name: 'a private address that the provider does not know goes if it knows another one',
    node: makeNode({ addresses: [internal('192.168.7.9'), name] }),
    addresses: usual,
  },
  {
    name: 'a cloud that knows no address says nothing about them',
    node: makeNode({ addresses: [internal('192.168.7.9'), name] }),
    machine: makeMachine({ addresses: [elastic('198.51.100.1')] }),
    addresses: undefined,
  },
]
for (const { name: title, node, machine = makeMachine(), addresses } of cases)
  test(title, () => assert.equal(nodeAddresses(node, machine), addresses))

test('the addresses of the machine are internal ones first, and IPv4 before IPv6', () => {
  const node = makeNode({
    addresses: [external('2001:db8::2'), external('203.0.113.2'), name, internal('fd00::3'), internal('10.66.1.3')],
  })
  assert.equal(machineAddresses(node), ['10.66.1.3', 'fd00::3', '203.0.113.2', '2001:db8::2'])
})

test('once written, they need no second write', () => {
  for (const { node, machine = makeMachine(), addresses } of cases) {
    if (!addresses) continue
    assert.is(nodeAddresses({ ...node, status: { ...node.status, addresses } }, machine), undefined)
  }
})

test.run()
