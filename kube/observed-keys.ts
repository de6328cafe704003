import type { Clock } from './clock.ts'
import type { Key } from './objects.ts'
import { type PendingKeys, pendingKeys } from './pending-keys.ts'

/** Counts what happens in a queue. */
export type QueueObserver = {
  added(): void
  /** A key is due again after a failure. */
  retried(): void
  /** A key waited that long for a worker. */
  waited(ms: number): void
}

/** An empty set of pending keys that reports what is added, and how long it waits. */
export function observedKeys(clock: Clock, observer: Pick<QueueObserver, 'added' | 'waited'> | undefined): PendingKeys {
  const pending = pendingKeys()
  const addedAtMs = new Map<Key, number>()
  return {
    ...pending,
    get length() {
      return pending.length
    },
    add(key) {
      observer?.added()
      if (!addedAtMs.has(key)) addedAtMs.set(key, clock.now())
      pending.add(key)
    },
    async next(signal) {
      const key = await pending.next(signal)
      if (key === undefined) return undefined
      const nowMs = clock.now()
      observer?.waited(nowMs - (addedAtMs.get(key) ?? nowMs))
      addedAtMs.delete(key)
      return key
    },
  }
}
