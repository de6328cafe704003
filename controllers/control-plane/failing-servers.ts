import type { GuardedNode } from './control-plane-nodes.ts'
import { type MoveRules, toleratedFailures } from '../moves/move-plan.ts'

/** The API servers that fail, according to this process's probes. */
export type FailingServers = {
  /** Whether the API server at an address fails. */
  has: (address: string) => boolean
  onChange(listener: () => void): void
}

/** Finds the failing API servers among those of the nodes at each look. */
export function failingServers(rules: MoveRules): FailingServers & { look(nodes: readonly GuardedNode[]): void } {
  let failing: readonly string[] = []
  const listeners: (() => void)[] = []
  const isFailing = (address: string, { probes }: GuardedNode) =>
    failing.includes(address)
      ? // Otherwise a flapping API server would come and go all the time.
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
