import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type BalancedNode, balancedNodes } from '../../../controllers/control-plane/balancer-guardian.ts'
import { noProbes } from '../../../controllers/moves/probe-history.ts'

const rules = { failures: 3, successes: 10 }

function node(name: string, facts: Partial<BalancedNode> = {}): BalancedNode {
  const external = `198.51.100.${name.charCodeAt(0)}`
  const endpoint = { address: '10.0.0.1', port: 6443 }
  return { name, machine: name, endpoint, leaving: 0, external, isOrigin: true, probes: noProbes, ...facts }
}
const answered = (successes: number) => ({ probes: { ...noProbes, successes, formerSuccesses: 20 } })
const failed = (failures: number) => ({ probes: { ...noProbes, failures, formerSuccesses: 20 } })

const cases: { name: string; nodes: BalancedNode[]; origins: string[] | undefined }[] = [
  { name: 'before the first probes origins stay', nodes: [node('a'), node('b')], origins: ['a', 'b'] },
  {
    name: 'a node joins when it has answered often enough',
    nodes: [node('a'), node('b', { isOrigin: false, ...answered(9) }), node('c', { isOrigin: false, ...answered(10) })],
    origins: ['a', 'c'],
  },
  {
    name: 'an origin stays while it fails, and goes when it failed too often',
    nodes: [node('a', failed(2)), node('b', failed(3)), node('c')],
    origins: ['a', 'c'],
  },
  {
    name: 'a node that will go leaves while another stays',
    nodes: [node('a', { leaving: 2 }), node('b', answered(1))],
    origins: ['b'],
  },
  {
    name: 'nodes that will all go stay until one does not',
    nodes: [node('a', { leaving: 2 }), node('b', { leaving: 1 }), node('c', failed(9))],
    origins: ['a', 'b'],
  },
  {
    name: 'of a pool without good origins, those that answered last are enough',
    nodes: [node('a', failed(9)), node('b', { isOrigin: false, ...answered(1) })],
    origins: ['b'],
  },
  {
    name: 'while none answers, all stays as it is',
    nodes: [node('a', failed(9)), node('b', failed(3))],
    origins: undefined,
  },
  {
    name: 'a node without a public address of its own is no origin',
    nodes: [node('a', { external: undefined, ...answered(50) }), node('b', answered(1))],
    origins: ['b'],
  },
  { name: 'without nodes all stays as it is', nodes: [], origins: undefined },
]
for (const { name, nodes, origins } of cases) {
  test(name, () =>
    assert.equal(
      balancedNodes(nodes, rules)?.map((one) => one.name),
      origins,
    ),
  )
}

test.run()
