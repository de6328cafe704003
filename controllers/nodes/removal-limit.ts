import type { Key } from '../../kube/objects.ts'

export type RemovalLimit = {
  /** Records that a node has lost its machine; returns how long this has been known, 0 the first time. */
  recordMissing(node: { name: Key; uid: string | undefined }): number
  /** Restarts the time of a node whose missing machine is in doubt. The node still counts as missing. */
  restart(name: Key): void
  /** Removes a node that is deleted, is ready, or has a machine. */
  clear(name: Key): void
  /** Whether a missing node may be deleted. After a refusal none may, until no node is missing. */
  canRemove(nodes: number): boolean
  /** Removes every node that no longer exists: a person may have deleted it while another replica led. */
  keepOnly(existing: ReadonlySet<Key>): void
  recordRemoval(name: Key): void
  /** Restarts the time of every node, because none was observed meanwhile. A refusal and the deleted nodes still count. */
  restartAll(): void
  /** How many nodes have lost their machines. */
  readonly missing: number
  /** How many nodes have lost their machines, or were deleted within ten minutes. */
  readonly total: number
}

export type RemovalLimitOptions = {
  /** The maximum number of nodes to delete within ten minutes, never more than half of all. */
  max: number
  now: () => number
}

const windowMs = 10 * 60_000

/**
 * Limits how many nodes are deleted. Machines do disappear one by one. If many disappear at once, the usual cause is a
 * wrong API key, a wrong project or a provider fault. Then no node is deleted until an operator has deleted those whose
 * machines really no longer exist.
 */
export function removalLimit({ max, now }: RemovalLimitOptions): RemovalLimit {
  const missing = new Map<Key, { uid: string | undefined; sinceMs: number | undefined }>()
  let removals: number[] = []
  let isExceeded = false

  const recent = () => removals.filter((atMs) => now() - atMs < windowMs).length
  const clear = (name: Key) => {
    missing.delete(name)
    isExceeded &&= missing.size > 0
  }
  const restart = (name: Key) => {
    Object.assign(missing.get(name) ?? {}, { sinceMs: undefined })
  }
  return {
    recordMissing({ name, uid }) {
      const known = missing.get(name)
      const sinceMs = (known?.uid === uid ? known?.sinceMs : undefined) ?? now()
      missing.set(name, { uid, sinceMs })
      return now() - sinceMs
    },
    restart,
    restartAll: () => [...missing.keys()].forEach(restart),
    clear,
    keepOnly: (existing) => [...missing.keys()].filter((name) => !existing.has(name)).forEach(clear),
    canRemove(nodes) {
      const limit = Math.min(max, Math.max(1, Math.floor((nodes + recent()) / 2)))
      isExceeded ||= missing.size + recent() > limit
      return !isExceeded
    },
    recordRemoval(name) {
      removals = [...removals, now()].slice(-max)
      clear(name)
    },
    get missing() {
      return missing.size
    },
    get total() {
      return missing.size + recent()
    },
  }
}
