export type ProblemNews = ReturnType<typeof problemNews>

/** Remembers the problem of one address, so that it is reported once. There is none at first. */
export function problemNews() {
  let known: string | undefined
  return {
    current: () => known,
    /** Notes the current problem; returns whether that is news. */
    isNew: (problem: string | undefined) => {
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
