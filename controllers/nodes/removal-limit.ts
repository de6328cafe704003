import type { Key } from '../../kube/objects.ts'

type MissingNode = { name: Key; uid: string | undefined }

export type RemovalLimit = {
  /** Records that a node has lost its machine; returns for how long that is known, 0 the first time. */
  recordMissing(node: MissingNode): number
  /** Restarts the time of a node: there is doubt about what the cloud said. The node still counts as missing. */
  restart(name: Key): void
  /** Removes a node that is gone, is ready, or has a machine. */
  clear(name: Key): void
  /** Whether a missing node may be deleted. After a refusal none may, until no node is missing any more. */
  canRemove(nodes: number): boolean
  /** Records that a node was deleted. */
  recordRemoval(name: Key): void
  /** Forgets everything. */
  reset(): void
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

type Memory = {
  missing: Map<Key, { uid: string | undefined; sinceMs: number | undefined }>
  /** When nodes were deleted. */
  removals: number[]
  isExceeded: boolean
}

const newMemory = (): Memory => ({ missing: new Map(), removals: [], isExceeded: false })

/**
 * Limits how many nodes are deleted. Machines do vanish one by one. If many vanish at once, the usual cause is a wrong
 * API key, a wrong project or a fault of the cloud. Then no node is deleted until an operator has deleted those that
 * are truly gone.
 */
export function removalLimit({ max, now }: RemovalLimitOptions): RemovalLimit {
  let memory = newMemory()

  const recent = () => memory.removals.filter((atMs) => now() - atMs < windowMs).length
  const clear = (name: Key) => {
    memory.missing.delete(name)
    if (memory.missing.size === 0) memory.isExceeded = false
  }
  return {
    recordMissing({ name, uid }) {
      const known = memory.missing.get(name)
      const sinceMs = (known?.uid === uid ? known?.sinceMs : undefined) ?? now()
      memory.missing.set(name, { uid, sinceMs })
      return now() - sinceMs
    },
    restart(name) {
      const known = memory.missing.get(name)
      if (known) memory.missing.set(name, { ...known, sinceMs: undefined })
    },
    clear,
    canRemove(nodes) {
      const limit = Math.min(max, Math.max(1, Math.floor((nodes + recent()) / 2)))
      memory.isExceeded ||= memory.missing.size + recent() > limit
      return !memory.isExceeded
    },
    recordRemoval(name) {
      memory.removals = [...memory.removals, now()].slice(-max)
      clear(name)
    },
    reset: () => void (memory = newMemory()),
    get missing() {
      return memory.missing.size
    },
    get total() {
      return memory.missing.size + recent()
    },
  }
}
