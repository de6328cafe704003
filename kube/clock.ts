import { setTimeout as after } from 'node:timers/promises'
import type { Clocks } from '../lib/clock-reading.ts'

/** The clock of this room's timers. Tests replace it, so that they need no real seconds. */
export type Clock = Clocks & {
  /** Resolves when the time is over, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** A Node timer that is set for longer fires at once. */
const longestMs = 2 ** 31 - 1

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
  async sleep(ms, signal) {
    try {
      await after(Math.min(ms, longestMs), undefined, signal && { signal })
    } catch (error) {
      if (!signal?.aborted) throw error
    }
  },
}
