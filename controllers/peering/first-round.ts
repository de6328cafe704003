import { CloudError } from '../../clouds/cloud.ts'
import type { Key } from '../../kube/objects.ts'
import type { Reconciler } from '../reconciler.ts'
import type { PeerFacts } from './peer-facts.ts'

export type FirstRoundDeps = {
  /** Looks at a node, and asks the cloud about it where nothing is known. */
  reconciler: Reconciler
  facts: Pick<PeerFacts, 'get' | 'all' | 'ready'>
}

export type FirstRound = Reconciler & {
  /** Nothing was kept: the facts are ready when each of these nodes was looked at. */
  begin(names: Key[]): void
}

/**
 * Where nothing was kept, what is announced may be a predecessor's, and must not be taken back for want of an answer.
 * So the cloud has to have answered for every node; a refusal counts only where the cloud said yes to another node.
 */
export function firstRound({ reconciler, facts }: FirstRoundDeps): FirstRound {
  let waiting: Set<Key> | undefined
  let isRefused = false

  const check = () => {
    if (waiting?.size !== 0 || (isRefused && facts.all().length === 0)) return
    waiting = undefined
    facts.ready()
  }
  const looked = (name: Key) => {
    waiting?.delete(name)
    check()
  }
  return {
    name: reconciler.name,
    begin(names) {
      waiting = new Set(names)
      check()
    },
    async reconcile(name, signal) {
      try {
        const outcome = await reconciler.reconcile(name, signal)
        looked(name)
        return outcome
      } catch (error) {
        if (isRefusal(error)) isRefused = true
        if (isRefusal(error) || facts.get(name)) looked(name)
        throw error
      }
    },
  }
}

/** The cloud was well, and said no. */
function isRefusal(error: unknown): boolean {
  return error instanceof CloudError && error.fault !== 'unavailable' && error.fault !== 'rate-limit'
}
