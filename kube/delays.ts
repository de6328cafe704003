import type { Clock } from './clock.ts'
import type { Key } from './objects.ts'

/** Keys with a time at which they are added. If a key has several, the earliest counts. */
export type Delays = {
  addAfter: (key: Key, ms: number) => void
  start(): void
  /** Drops all delays. */
  stop(): void
}

/**
 * Calls `add` for each key at its time. Delays count only between `start` and `stop`, so that no timer keeps a process
 * alive that has to end.
 */
export function delays(clock: Clock, add: (key: Key) => void): Delays {
  const delayed = new Map<Key, { dueMs: number; cancel: AbortController }>()
  let isRunning = false

  const wait = async (key: Key, ms: number) => {
    const cancel = new AbortController()
    delayed.get(key)?.cancel.abort()
    delayed.set(key, { dueMs: clock.now() + ms, cancel })
    await clock.sleep(ms, cancel.signal)
    if (cancel.signal.aborted) return
    delayed.delete(key)
    add(key)
  }

  return {
    addAfter(key, ms) {
      if (!isRunning) return
      const current = delayed.get(key)
      if (ms <= 0) add(key)
      else if (current === undefined || clock.now() + ms < current.dueMs) void wait(key, ms)
    },
    start() {
      isRunning = true
    },
    stop() {
      isRunning = false
      for (const { cancel } of delayed.values()) cancel.abort()
      delayed.clear()
    },
  }
}
