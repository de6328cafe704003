import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Machine } from '../../../clouds/ports/machines.ts'
import { type NodeStep, planNode } from '../../../controllers/nodes/node-plan.ts'
import type { Node, Taint } from '../../../kube/objects.ts'
import { hostname, external, ids, internal, makeMachine, makeNode, waiting } from './builders.ts'

const addresses = [hostname('worker-1'), internal('10.66.1.3'), external('203.0.113.2'), external('2001:db8::2')]
const labels = {
  'beta.kubernetes.io/instance-type': 'c3.small.x86',
  'node.kubernetes.io/instance-type': 'c3.small.x86',
  'failure-domain.beta.kubernetes.io/region': 'da',
  'topology.kubernetes.io/region': 'da',
  'failure-domain.beta.kubernetes.io/zone': 'da11',
  'topology.kubernetes.io/zone': 'da11',
}
const providerID = 'equinixmetal://m-1'
const mine: Taint = { key: 'example.com/mine', effect: 'NoExecute' }
const zoneless = { ...labels, 'topology.kubernetes.io/zone': 'rack-7' }

const cases: { name: string; node: Node; machine?: Machine; step: NodeStep | undefined }[] = [
  {
    name: 'first the addresses, while nothing may run there yet',
    node: makeNode({ taints: [waiting] }),
    step: { do: 'set-addresses', addresses },
  },
  {
    name: 'then all else, and the taint goes with it',
    node: makeNode({ addresses, taints: [waiting, mine] }),
    step: { do: 'identify', labels, providerID, taints: [mine] },
  },
  { name: 'then nothing', node: makeNode({ addresses, providerID, labels, taints: [mine] }), step: undefined },
  {
    name: 'an id that a predecessor wrote stays',
    node: makeNode({ addresses, providerID: 'packet://m-1', labels }),
    step: undefined,
  },
  {
    name: 'a new node gets its labels whatever somebody had it say',
    node: makeNode({ addresses, providerID, labels: zoneless, taints: [waiting] }),
    step: { do: 'identify', labels: { 'topology.kubernetes.io/zone': 'da11' }, taints: [] },
  },
  {
    name: 'on another node a label that a person changed stays',
    node: makeNode({ addresses, providerID, labels: zoneless }),
    step: undefined,
  },
  {
    name: 'and one that is missing takes after its twin',
    node: makeNode({
      addresses,
      providerID,
      labels: {
        ...labels,
        'failure-domain.beta.kubernetes.io/zone': 'rack-7',
        'topology.kubernetes.io/zone': undefined!,
      },
    }),
    step: { do: 'identify', labels: { 'topology.kubernetes.io/zone': 'rack-7' } },
  },
  {
    name: 'a place that the provider does not say, or that is no label, is left out',
    node: makeNode({ addresses, taints: [waiting] }),
    machine: makeMachine({ region: 'Dallas, Texas', zone: undefined, type: undefined }),
    step: { do: 'identify', labels: {}, providerID, taints: [] },
  },
  {
    name: 'a label of this provider alone is added, and stays as a person changed it',
    node: makeNode({ addresses, providerID, labels: { ...labels, 'example.com/rack': '7' } }),
    machine: makeMachine({ labels: { 'example.com/rack': '1', 'example.com/row': '2' } }),
    step: { do: 'identify', labels: { 'example.com/row': '2' } },
  },
]
for (const { name, node, machine = makeMachine(), step } of cases)
  test(name, () => assert.equal(planNode(node, machine, ids), step))

test.run()
