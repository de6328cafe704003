// Which control-plane nodes a balancer sends to. "Good" is an origin that has not failed too often in a row, or another node
// with enough good answers in a row. The first row that applies decides.
//
//   the nodes                                  | the origins are
//   -------------------------------------------+------------------------------------
//   some are good and stay                     | those
//   some are good, and all of them will go     | those
//   none is good, and some answered last       | those
//   none answers                               | as they are: an empty pool serves no one
import { type MoveRules, toleratedFailures } from '../moves/move-plan.ts'
import type { GuardedNode } from './control-plane-nodes.ts'

/** A control-plane node as a balancer sees it. */
export type BalancedNode = GuardedNode & {
  /** Where the balancer reaches it; undefined if it has no public address of its own. */
  external: string | undefined
  /** Whether the balancer sends to it now. */
  isOrigin: boolean
}

export type ReachableNode = BalancedNode & { external: string }

/** The nodes that the balancer should send to; undefined if it should keep those that it has. Pure. */
export function balancedNodes(nodes: readonly BalancedNode[], rules: MoveRules): ReachableNode[] | undefined {
  const reachable = nodes.filter((node): node is ReachableNode => node.external !== undefined)
  const good = reachable.filter((node) => isGood(node, rules))
  const staying = good.filter(({ leaving }) => leaving === 0)
  const answering = reachable.filter(({ probes }) => probes.successes > 0)
  return [staying, good, answering].find((some) => some.length > 0)
}

/** Before the first probes an origin stays: a process that starts knows nothing against it. */
function isGood({ probes, isOrigin }: BalancedNode, rules: MoveRules): boolean {
  return isOrigin ? probes.failures < toleratedFailures(probes, rules) : probes.successes >= rules.successes
}
