/** A read through the address: the error of the first attempt, and of the second. */
export type Read = { startedMs: number; endedMs: number; first?: string; second?: string; retriedMs?: number }

/** Reads are numbered as they begin, from 1. */
export type NumberedRead = Read & { number: number }

/** The failures that a user of the address saw. */
export type Loss = {
  reads: number
  /** The reads that failed, and those whose immediate retry failed, too. */
  failed: number
  lost: number
  /** The longest time without a good answer, and when it began. */
  longestGapMs: number
  gapStartedMs: number
  problems: Record<string, number>
}

/** Sums up the reads that began in a span of time. */
export function summarizeReads(reads: Read[], { fromMs, toMs }: { fromMs: number; toMs: number }): Loss {
  const within = reads.filter(({ startedMs }) => startedMs >= fromMs && startedMs <= toMs)
  const answers = within.filter(({ first }) => first === undefined).map(({ endedMs }) => endedMs)
  const times = [fromMs, ...answers.toSorted((a, b) => a - b), toMs]
  const gaps = times
    .slice(1)
    .map((endedMs, n) => ({ startedMs: times[n] ?? fromMs, ms: endedMs - (times[n] ?? fromMs) }))
  const longest = gaps.reduce((longer, gap) => (gap.ms > longer.ms ? gap : longer))
  const problems: Record<string, number> = {}
  for (const { first } of within) if (first !== undefined) problems[first] = (problems[first] ?? 0) + 1
  return {
    reads: within.length,
    failed: within.filter(({ first }) => first !== undefined).length,
    lost: within.filter(({ second }) => second !== undefined).length,
    longestGapMs: longest.ms,
    gapStartedMs: longest.startedMs,
    problems,
  }
}
