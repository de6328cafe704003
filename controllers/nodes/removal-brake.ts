import type { Key } from '../../kube/objects.ts'

export type RemovalBrake = {
  /** A node without a machine was seen; answers for how long, 0 the first time. */
  missed(node: Suspect): number
  /** There is doubt: what was seen of the node so far proves nothing, and the suspicion stays. */
  doubted(name: Key): void
  /** The node is gone, or well, or its machine is there. */
  cleared(name: Key): void
  /** Whether one of the suspects may be deleted now. Once it says no it does so until there is no suspect any more. */
  allows(nodes: number): boolean
  /** One was deleted. */
  removed(name: Key): void
  readonly suspects: number
  /** Suspects, and those that went within ten minutes. */
  readonly going: number
}

type Suspect = { name: Key; uid: string | undefined }

export type RemovalBrakeOptions = {
  /** Nodes that may be deleted within ten minutes, and never more than half of them. */
  max: number
  now: () => number
}

const windowMs = 10 * 60_000

/**
 * Machines do vanish one by one. That many of them vanish at once is as a rule a wrong key, a wrong project or a sick
 * cloud, so then none of their nodes is deleted until a person has looked, and has deleted those that are to go.
 */
export function removalBrake({ max, now }: RemovalBrakeOptions): RemovalBrake {
  const suspects = new Map<Key, { uid: string | undefined; sinceMs: number | undefined }>()
  let removals: number[] = []
  let isPulled = false

  const recent = () => removals.filter((atMs) => now() - atMs < windowMs).length
  const cleared = (name: Key) => {
    suspects.delete(name)
    if (suspects.size === 0) isPulled = false
  }
  return {
    missed({ name, uid }) {
      const known = suspects.get(name)
      const sinceMs = (known?.uid === uid ? known?.sinceMs : undefined) ?? now()
      suspects.set(name, { uid, sinceMs })
      return now() - sinceMs
    },
    doubted(name) {
      const known = suspects.get(name)
      if (known) suspects.set(name, { ...known, sinceMs: undefined })
    },
    cleared,
    allows(nodes) {
      const limit = Math.min(max, Math.max(1, Math.floor((nodes + recent()) / 2)))
      isPulled ||= suspects.size + recent() > limit
      return !isPulled
    },
    removed(name) {
      removals = [...removals, now()].slice(-max)
      cleared(name)
    },
    get suspects() {
      return suspects.size
    },
    get going() {
      return suspects.size + recent()
    },
  }
}
