import type { Key } from '../../kube/objects.ts'

export type RemovalLimit = ReturnType<typeof removalLimit>

const windowMs = 10 * 60_000

/**
 * Limits how many nodes are deleted within ten minutes: `max`, but at most half of all, and always one. Machines do
 * disappear one by one. If many disappear at once, the usual cause is a wrong API key, a wrong project or a provider
 * fault. Then no node is deleted until an operator has deleted those whose machines really no longer exist.
 */
export function removalLimit({ max, now }: { max: number; now: () => number }) {
  const missing = new Map<Key, { uid: string | undefined; sinceMs: number | undefined }>()
  let removals: number[] = []
  let isExceeded = false

  const recent = () => removals.filter((atMs) => now() - atMs < windowMs).length
  /** Forgets a node that was deleted, is ready, or has a machine. */
  const clear = (name: Key) => {
    missing.delete(name)
    isExceeded &&= missing.size > 0
  }
  /** Restarts the time of a node whose missing machine is in doubt. The node still counts as missing. */
  const restart = (name: Key) => {
    Object.assign(missing.get(name) ?? {}, { sinceMs: undefined })
  }
  return {
    /** Records that a node has lost its machine; returns how long this has been known, 0 the first time. */
    recordMissing({ name, uid }: { name: Key; uid?: string | undefined }) {
      const known = missing.get(name)
      const sinceMs = (known?.uid === uid ? known?.sinceMs : undefined) ?? now()
      missing.set(name, { uid, sinceMs })
      return now() - sinceMs
    },
    restart,
    /** Restarts the time of every node, because none was observed meanwhile. A refusal and the deleted nodes still count. */
    restartAll: () => [...missing.keys()].forEach(restart),
    clear,
    /** Forgets every node that no longer exists: a person may have deleted it while another replica led. */
    keepOnly: (existing: ReadonlySet<Key>) => [...missing.keys()].filter((name) => !existing.has(name)).forEach(clear),
    /** Whether a missing node may be deleted. After a refusal none may, until no node is missing. */
    canRemove(nodes: number) {
      const limit = Math.min(max, Math.max(1, Math.floor((nodes + recent()) / 2)))
      isExceeded ||= missing.size + recent() > limit
      return !isExceeded
    },
    recordRemoval(name: Key) {
      removals = [...removals, now()].slice(-max)
      clear(name)
    },
    /** How many nodes have lost their machines. */
    get missing() {
      return missing.size
    },
    /** How many nodes have lost their machines, or were deleted within ten minutes. */
    get total() {
      return missing.size + recent()
    },
  }
}
