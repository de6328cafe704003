/** Remembers the problem of one address, so that it is reported once. */
export type ProblemNews = {
  current: () => string | undefined
  /** Notes the current problem; returns whether that is news. */
  isNew: (problem: string | undefined) => boolean
}

/** Starts without a problem. */
export function problemNews(): ProblemNews {
  let known: string | undefined
  return {
    current: () => known,
    isNew: (problem) => {
      const before = known
      known = problem
      return problem !== undefined && withoutCounts(problem) !== withoutCounts(before ?? '')
    },
  }
}

/** A growing count or a shrinking wait is not a new problem. But a name or an address is no count. */
function withoutCounts(text: string): string {
  return text.replaceAll(/(?<![\w.:-])\d+(?:\.\d+)?(?![\w.:-])/g, '')
}
