/** Remembers the problem of one address, so that it is told once. */
export type ProblemNews = {
  current: () => string | undefined
  /** Takes what is wrong now; returns whether that is news. */
  isNew: (problem: string | undefined) => boolean
}

/** No problem so far. */
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

/** A count that grows, or a wait that shortens, makes no new problem. A name or an address is no count. */
function withoutCounts(text: string): string {
  return text.replaceAll(/(?<![\w.:-])\d+(?:\.\d+)?(?![\w.:-])/g, '')
}
