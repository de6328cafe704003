import type { Key } from '../../kube/objects.ts'
import type { Enqueue, Watch } from './watch.ts'

/** Keys that one controller forwards to another. */
export type ForwardedKeys = {
  add: (key: Key) => void
  /** Adds the keys to the queue of the controller that receives them. */
  watch: Watch
}

/** Forwards keys to the controllers that watch it; none at first. */
export function forwardedKeys(): ForwardedKeys {
  const queues: Enqueue[] = []
  return {
    add: (key) => {
      for (const enqueue of queues) enqueue(key, 0)
    },
    watch: (enqueue) => void queues.push(enqueue),
  }
}
