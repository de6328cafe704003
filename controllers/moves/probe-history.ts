/** A finished probe. */
export type ProbeOutcome = {
  startedAtMs: number
  endedAtMs: number
  isWell: boolean
  /** Whether this process began it so late that the server may have answered in the meantime. */
  isLate?: boolean
  /** Why it failed. */
  reason?: string
}

/** The results of a server's probes. */
export type ProbeHistory = {
  /** Consecutive failures since the last good answer, without a gap. */
  failures: number
  /** How often a gap has restarted this count; absent if never. */
  restarts?: number
  /** Good answers since the last failure. */
  successes: number
  /** Consecutive good answers before the last failure that ended such a series. */
  formerSuccesses: number
  /** When the last good answer arrived. */
  answeredAtMs?: number
  /** Why the last probe failed. */
  reason?: string
}

/** Before the first probe. */
export const noProbes: ProbeHistory = { failures: 0, successes: 0, formerSuccesses: 0 }

/** A process that is always short of CPU must still detect a dead server. */
const maxRestarts = 2

/**
 * Adds the outcome of a probe. Probes overlap: a server that answered one while another timed out is slow, not dead.
 * Such a failure only ends the series of good answers. Two failures with a gap between them may belong to two short
 * silences, so the later one restarts the count. Pure.
 */
export function addOutcome(history: ProbeHistory, outcome: ProbeOutcome): ProbeHistory {
  const { startedAtMs, endedAtMs, isWell, isLate, reason } = outcome
  const { answeredAtMs, failures, restarts = 0, successes, formerSuccesses } = history
  if (isWell) return { ...noProbes, successes: successes + 1, formerSuccesses, answeredAtMs: endedAtMs }
  const isSlow = answeredAtMs !== undefined && answeredAtMs > startedAtMs
  const isRestart = isLate === true && !isSlow && failures > 0 && restarts < maxRestarts
  return {
    failures: isRestart ? 1 : failures + Number(!isSlow),
    restarts: restarts + Number(isRestart),
    successes: 0,
    formerSuccesses: successes > 0 ? successes : formerSuccesses,
    ...(answeredAtMs !== undefined && { answeredAtMs }),
    ...(reason !== undefined && { reason }),
  }
}
