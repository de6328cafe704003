import { setTimeout as after } from 'node:timers/promises'
import { type Clocks, timerMs } from '../lib/time-limit.ts'

/** The clock behind this room's timers. Tests replace it, so that they need not wait. */
export type Clock = Clocks & {
  /** Resolves when the time is over, or at once when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  date: () => new Date(),
  async sleep(ms, signal) {
    try {
      await after(timerMs(ms), undefined, signal && { signal })
    } catch (error) {
      if (!signal?.aborted) throw error
    }
  },
}
