/** When a guardian that should not lead lets others lead. */
export type YieldPause = {
  /** The guardian leads: again, if it has just yielded. */
  lead(): void
  isOver(): boolean
  yielded(): void
}

const firstMs = 60_000
const longestMs = 60 * 60_000
/** A replica that leads again so soon after it yielded found that no other took the lease. */
const untakenMs = 5_000

/** A pause between two attempts to let others lead, twice as long after each unused one: there may be no other. */
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

/** Others look for a free lease twice a second. */
export const hesitationMs = 1_500
