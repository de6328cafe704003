import type { Key } from '../kube/objects.ts'
import type { Enqueue, Watch } from './watch.ts'

/** Keys that one controller hands over to another. */
export type HandOver = {
  add: (key: Key) => void
  /** Adds the keys to the queue of the controller that takes them. */
  watch: Watch
}

/** Hands nothing over yet. */
export function handOver(): HandOver {
  const takers: Enqueue[] = []
  return {
    add: (key) => {
      for (const take of takers) take(key, 0)
    },
    watch: (take) => void takers.push(take),
  }
}
