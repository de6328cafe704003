/** The times at which a guardian that should not lead lets others lead. */
export type YieldPause = {
  /** Records that the guardian leads, perhaps again soon after it yielded. */
  lead(): void
  isOver(): boolean
  yielded(): void
}

const firstMs = 60_000
const longestMs = 60 * 60_000
/** A replica that leads again within this time after it yielded knows that no other took the lease. */
const untakenMs = 5_000

/**
 * Makes the pause between two attempts to let others lead. It doubles after each unused one, because there may be no
 * other.
 */
export function yieldPause(now: () => number): YieldPause {
  let yieldedAtMs = -Infinity
  let pauseMs = firstMs
  return {
    lead() {
      pauseMs = now() - yieldedAtMs < untakenMs ? Math.min(2 * pauseMs, longestMs) : firstMs
    },
    isOver: () => now() - yieldedAtMs >= pauseMs,
    yielded: () => void (yieldedAtMs = now()),
  }
}

/** How long a guardian leaves a free lease to others, which look for one twice a second. */
export const hesitationMs = 1_500
