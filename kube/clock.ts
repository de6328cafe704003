import { setTimeout as after } from 'node:timers/promises'

/** Time as the timers of this room see it, so that tests need no real seconds. */
export type Clock = {
  /** Milliseconds that only ever go forward and mean no date. */
  now(): number
  date(): Date
  /** Resolves when the time is over, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** A timer set for longer goes off at once. */
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
