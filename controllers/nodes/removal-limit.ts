import type { Key } from '../../kube/objects.ts'

export type RemovalLimit = {
  /** Records that a node has lost its machine; returns for how long that is known, 0 the first time. */
  recordMissing(node: { name: Key; uid: string | undefined }): number
  /** Restarts the time of a node: there is doubt about what the cloud said. The node still counts as missing. */
  restart(name: Key): void
  /** Removes a node that is deleted, is ready, or has a machine. */
  clear(name: Key): void
  /** Whether a missing node may be deleted. After a refusal none may, until no node is missing any more. */
  canRemove(nodes: number): boolean
  /** Removes every node that does not exist any more: a person may have deleted it while another replica led. */
  keepOnly(existing: ReadonlySet<Key>): void
  recordRemoval(name: Key): void
  /** Restarts the time of every node: none was observed meanwhile. A refusal and the deleted nodes still count. */
  restartAll(): void
  /** Nodes that have lost their machines. */
  readonly missing: number
  /** Nodes that have lost their machines, and those that were deleted within ten minutes. */
  readonly total: number
}

export type RemovalLimitOptions = {
  /** Nodes that may be deleted within ten minutes, and never more than half of them. */
  max: number
  now: () => number
}

const windowMs = 10 * 60_000

/**
 * Limits how many nodes are deleted. Machines do vanish one by one. If many vanish at once, the usual cause is a wrong
 * API key, a wrong project or a fault of the cloud. Then no node is deleted until an operator has deleted those that
 * are truly gone.
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
