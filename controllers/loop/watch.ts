import type { Key } from '../../kube/objects.ts'

/** Adds a key to a queue, immediately or after the delay. */
export type Enqueue = (key: Key, delayMs: number) => void

/** Subscribes a queue to changes. */
export type Watch = (enqueue: Enqueue) => void

/** A source of changes: a cache, or facts of our own. */
export type Source<Change extends unknown[]> = { onChange(listener: (...change: Change) => void): void }

/** Adds the keys that a change concerns. A delay gathers many changes into one reconcile. */
export function watch<Change extends unknown[]>(
  source: Source<Change>,
  keysOf: (...change: Change) => Iterable<Key>,
  delayMs = 0,
): Watch {
  return (enqueue) =>
    source.onChange((...change) => {
      for (const key of keysOf(...change)) enqueue(key, delayMs)
    })
}

/** Keys that one controller forwards to another. */
export type ForwardedKeys = {
  add: (key: Key) => void
  /** Adds the keys to the queue of the controller that receives them. */
  watch: Watch
}

/** Forwards keys to the controllers that watch it; there are none at first. */
export function forwardedKeys(): ForwardedKeys {
  const queues: Enqueue[] = []
  return {
    add: (key) => {
      for (const enqueue of queues) enqueue(key, 0)
    },
    watch: (enqueue) => void queues.push(enqueue),
  }
}
