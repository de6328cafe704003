/** A finished probe. */
export type ProbeOutcome = {
  startedAtMs: number
  endedAtMs: number
  isWell: boolean
  /** Whether this process began it so late that the server may have answered meanwhile. */
  isLate?: boolean
  /** Why it failed. */
  reason?: string
}

/** The results of an API server's probes. */
export type ProbeHistory = {
  /** Failures since the last good answer, without a gap between them. */
  failures: number
  /** How often a gap has begun them again; absent where none has. */
  restarts?: number
  /** Good answers since the last failure. */
  successes: number
  /** Good answers in a row before the last failure that ended such a row. */
  formerSuccesses: number
  /** When the last good answer arrived. */
  answeredAtMs?: number
  /** Why the last probe failed. */
  reason?: string
}

/** Before the first probe. */
export const noProbes: ProbeHistory = { failures: 0, successes: 0, formerSuccesses: 0 }

/** A process that never gets its processor in time finds a dead server all the same. */
const maxRestarts = 2

/**
 * Adds the outcome of a probe. Probes overlap. A server that answered one while another waited in vain is slow, not
 * dead: such a failure only ends the row of good answers. Two failures with a gap between them may be of two short
 * silences: the later one begins the row again. Pure.
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
