/** A finished probe. */
export type ProbeOutcome = {
  startedAtMs: number
  endedAtMs: number
  isWell: boolean
  /** Why it failed. */
  reason?: string
}

/** The results of an API server's probes. */
export type ProbeHistory = {
  /** Failures since the last good answer. */
  failures: number
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

/**
 * Adds the outcome of a probe. Probes overlap. A server that answered one while another waited in vain is slow, not
 * dead: such a failure only ends the row of good answers. Pure.
 */
export function addOutcome(history: ProbeHistory, outcome: ProbeOutcome): ProbeHistory {
  const { startedAtMs, endedAtMs, isWell, reason } = outcome
  const { answeredAtMs, failures, successes, formerSuccesses } = history
  if (isWell) return { failures: 0, successes: successes + 1, formerSuccesses, answeredAtMs: endedAtMs }
  const isSlow = answeredAtMs !== undefined && answeredAtMs > startedAtMs
  return {
    failures: isSlow ? failures : failures + 1,
    successes: 0,
    formerSuccesses: successes > 0 ? successes : formerSuccesses,
    ...(answeredAtMs !== undefined && { answeredAtMs }),
    ...(reason !== undefined && { reason }),
  }
}
