import type { Clock } from './clock.ts'
import { delays } from './delays.ts'
import type { Key } from './objects.ts'
import { type QueueObserver, observedKeys } from './observed-keys.ts'
import type { PendingKeys } from './pending-keys.ts'

/** Pending keys, some of them for later. */
export type ScheduledKeys = Omit<PendingKeys, 'takeBack'> & {
  /** Adds the key after the delay. If a key has several delays, the shortest counts. */
  addAfter: (key: Key, ms: number) => void
  /** Delays every add of the key by this time, also one that came while the key was processed. */
  hold: (key: Key, ms: number) => void
  /** Delays count from now on. */
  start(): void
  /** Drops all delays and holds. */
  stop(): void
}

/** An empty set of scheduled keys. */
export function scheduledKeys(
  clock: Clock,
  observer: Pick<QueueObserver, 'added' | 'waited'> | undefined,
): ScheduledKeys {
  const pending = observedKeys(clock, observer)
  const heldUntilMs = new Map<Key, number>()
  const add = (key: Key) => {
    const leftMs = (heldUntilMs.get(key) ?? 0) - clock.now()
    if (leftMs > 0) return delayed.addAfter(key, leftMs)
    heldUntilMs.delete(key)
    pending.add(key)
  }
  const delayed = delays(clock, add)
  return {
    add,
    addAfter: delayed.addAfter,
    hold(key, ms) {
      heldUntilMs.set(key, clock.now() + ms)
      if (pending.takeBack(key)) delayed.addAfter(key, ms)
    },
    next: (signal) => pending.next(signal),
    done: (key) => pending.done(key),
    get length() {
      return pending.length
    },
    start: () => delayed.start(),
    stop() {
      delayed.stop()
      heldUntilMs.clear()
    },
  }
}
