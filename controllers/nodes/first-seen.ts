import type { Key, Node } from '../../kube/objects.ts'

export type FirstSeen = {
  /** A listener for the changes of a node cache. */
  observe: (name: Key, current: Node | undefined, previous: Node | undefined) => void
  /** When this process first saw the node that has the name now; another node of that name does not count. */
  at: (name: Key) => number
}

/** Records when each node was first seen. */
export function firstSeen(now: () => number): FirstSeen {
  const seenAtMs = new Map<Key, number>()
  return {
    observe(name, current, previous) {
      if (!current) seenAtMs.delete(name)
      else if (current.metadata.uid !== previous?.metadata.uid) seenAtMs.set(name, now())
    },
    at: (name) => seenAtMs.get(name) ?? now(),
  }
}
