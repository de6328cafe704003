import { retryAfterOf } from '../moves/refusals.ts'

/** Whether this process can read the cloud. */
export type Sight = {
  /** Reads the cloud, and remembers whether it answered. */
  read<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>
  /** Whether reads have failed for so long that another guardian may see more. */
  isBlind(): boolean
}

/** Most outages of a cloud's API are shorter, and no other guardian would see more. */
const patienceMs = 10_000

/**
 * A guardian that does not lead reads nothing, so its last failure soon tells nothing. While the cloud is down for all,
 * each leads again sooner.
 */
const memoryMs = 60_000

/** The sight of a process that has not read the cloud yet. */
export function cloudSight(now: () => number): Sight {
  let failingSinceMs = -Infinity
  let lastFailedAtMs = -Infinity
  return {
    async read(work, signal) {
      const beganAtMs = now()
      try {
        const found = await work(signal)
        lastFailedAtMs = -Infinity
        return found
      } catch (error) {
        // A cloud that asks us to wait is there, and asks the others as well.
        if (retryAfterOf(error) > 0) lastFailedAtMs = -Infinity
        else if (!signal.aborted) {
          if (beganAtMs - lastFailedAtMs >= memoryMs) failingSinceMs = beganAtMs
          lastFailedAtMs = now()
        }
        throw error
      }
    },
    isBlind: () => now() - lastFailedAtMs < memoryMs && now() - failingSinceMs >= patienceMs,
  }
}
