import type { Clock } from './clock.ts'
import type { Key } from './objects.ts'

/** Keys that are to be added later; of several waits of one key the shortest counts. */
export type Delays = { addAfter: (key: Key, ms: number) => void; clear(): void }

/** No waits yet; `add` gets each key when its time has come. */
export function delays(clock: Clock, add: (key: Key) => void): Delays {
  const waits = new Map<Key, { dueMs: number; cancel: AbortController }>()

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
      const known = waits.get(key)
      if (ms <= 0) add(key)
      else if (known === undefined || clock.now() + ms < known.dueMs) void wait(key, ms)
    },
    clear() {
      for (const { cancel } of waits.values()) cancel.abort()
      waits.clear()
    },
  }
}
