import type { GuardedNode } from './control-plane-nodes.ts'
import { type MoveRules, toleratedFailures } from '../moves/move-plan.ts'

export type FailingServers = ReturnType<typeof failingServers>

/** The API servers that fail, according to this process's probes at each look: none before the first. */
export function failingServers(rules: MoveRules) {
  let failing: readonly string[] = []
  const listeners: (() => void)[] = []
  const isFailing = (address: string, { probes }: GuardedNode) =>
    failing.includes(address)
      ? // Otherwise a flapping API server would come and go all the time.
        probes.successes < rules.successes
      : probes.failures >= toleratedFailures(probes, rules)
  return {
    /** Whether the API server at an address fails. */
    has: (address: string) => failing.includes(address),
    onChange: (listener: () => void) => void listeners.push(listener),
    look(nodes: readonly GuardedNode[]) {
      const before = failing.join()
      failing = nodes.flatMap((node) =>
        node.endpoint && isFailing(node.endpoint.address, node) ? node.endpoint.address : [],
      )
      if (failing.join() !== before) for (const listener of listeners) listener()
    },
  }
}
