import type { GuardedNode } from './control-plane-nodes.ts'
import { type MoveRules, toleratedFailures } from '../moves/move-plan.ts'

/** The API servers that fail, by the probes of this process. */
export type FailingServers = {
  /** Whether the one that listens at an address is one of them. */
  has: (address: string) => boolean
  onChange(listener: () => void): void
}

/** Finds the API servers that fail, among those of the nodes at each look. */
export function failingServers(rules: MoveRules): FailingServers & { look(nodes: readonly GuardedNode[]): void } {
  let failing: readonly string[] = []
  const listeners: (() => void)[] = []
  const isFailing = (address: string, { probes }: GuardedNode) =>
    failing.includes(address)
      ? // Otherwise one that answers by turns would come and go all the time.
        probes.successes < rules.successes
      : probes.failures >= toleratedFailures(probes, rules)
  return {
    has: (address) => failing.includes(address),
    onChange: (listener) => void listeners.push(listener),
    look(nodes) {
      const before = failing.join()
      failing = nodes.flatMap((node) =>
        node.endpoint && isFailing(node.endpoint.address, node) ? node.endpoint.address : [],
      )
      if (failing.join() !== before) for (const listener of listeners) listener()
    },
  }
}
