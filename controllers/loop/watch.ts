import type { Key } from '../../kube/objects.ts'

/** Adds a key to a queue, immediately or after the delay. */
type Enqueue = (key: Key, delayMs: number) => void

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

export type ForwardedKeys = ReturnType<typeof forwardedKeys>

/** Keys that one controller forwards to those that watch them; there are none at first. */
export function forwardedKeys() {
  const queues: Enqueue[] = []
  return {
    add: (key: Key) => {
      for (const enqueue of queues) enqueue(key, 0)
    },
    watch: (enqueue: Enqueue) => void queues.push(enqueue),
  }
}
