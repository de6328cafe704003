import type { Clock } from './clock.ts'
import type { Key } from './objects.ts'

/** Keys that are to be added later; of several waits of one key the shortest counts. */
export type Delays = {
  addAfter: (key: Key, ms: number) => void
  start(): void
  /** Forgets all waits. */
  stop(): void
}

/**
 * No waits yet; `add` gets each key when its time has come. No time runs before `start` nor after `stop`: a process that
 * is to end has no timer that keeps it.
 */
export function delays(clock: Clock, add: (key: Key) => void): Delays {
  const waits = new Map<Key, { dueMs: number; cancel: AbortController }>()
  let isRunning = false

  const wait = async (key: Key, ms: number) => {
    const cancel = new AbortController()
    waits.get(key)?.cancel.abort()
    waits.set(key, { dueMs: clock.now() + ms, cancel })
    await clock.sleep(ms, cancel.signal)
    if (cancel.signal.aborted) return
    waits.delete(key)
    add(key)
  }

  return {
    addAfter(key, ms) {
      if (!isRunning) return
      const known = waits.get(key)
      if (ms <= 0) add(key)
      else if (known === undefined || clock.now() + ms < known.dueMs) void wait(key, ms)
    },
    start() {
      isRunning = true
    },
    stop() {
      isRunning = false
      for (const { cancel } of waits.values()) cancel.abort()
      waits.clear()
    },
  }
}
