import { CloudError } from '../../clouds/ports/cloud.ts'
import type { Key } from '../../kube/objects.ts'
import type { Reconciler } from '../loop/reconciler.ts'
import type { PeerFacts } from '../facts/peer-facts.ts'

export type InitialPeeringDeps = {
  /** Reconciles a node, and asks the cloud for its peers where none are known. */
  reconciler: Reconciler
  facts: Pick<PeerFacts, 'get' | 'all' | 'markComplete'>
}

export type InitialPeering = Reconciler & {
  /** No facts were stored: they are complete when each of these nodes was reconciled. */
  begin(names: Key[]): void
}

/**
 * Reconciles nodes, and declares the facts complete once the cloud has answered for every node. Without stored facts, a
 * predecessor may have written what is announced now, and a missing answer must not withdraw it. A refusal counts as an
 * answer only if the cloud accepted the same request for another node.
 */
export function initialPeering({ reconciler, facts }: InitialPeeringDeps): InitialPeering {
  let waiting: Set<Key> | undefined
  let isRefused = false

  const check = () => {
    if (waiting?.size !== 0 || (isRefused && facts.all().length === 0)) return
    waiting = undefined
    facts.markComplete()
  }
  const answered = (name: Key) => {
    waiting?.delete(name)
    check()
  }
  return {
    ...reconciler,
    begin(names) {
      waiting = new Set(names)
      check()
    },
    async reconcile(name, signal) {
      try {
        const outcome = await reconciler.reconcile(name, signal)
        answered(name)
        return outcome
      } catch (error) {
        if (isRefusal(error)) isRefused = true
        if (isRefusal(error) || facts.get(name)) answered(name)
        throw error
      }
    },
  }
}

/** Whether the cloud works and refused the request. */
function isRefusal(error: unknown): boolean {
  return error instanceof CloudError && error.fault !== 'unavailable' && error.fault !== 'rate-limit'
}
