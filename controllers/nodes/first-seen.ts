import type { Key, Node } from '../../kube/objects.ts'

export type FirstSeen = {
  /** Takes what a copy of the nodes tells. */
  heard: (name: Key, current: Node | undefined, previous: Node | undefined) => void
  /** When this process first saw that node, and not another one of its name. */
  at: (name: Key) => number
}

/** Remembers since when each node is known. */
export function firstSeen(now: () => number): FirstSeen {
  const seenAtMs = new Map<Key, number>()
  return {
    heard(name, current, previous) {
      if (!current) seenAtMs.delete(name)
      else if (current.metadata.uid !== previous?.metadata.uid) seenAtMs.set(name, now())
    },
    at: (name) => seenAtMs.get(name) ?? now(),
  }
}
