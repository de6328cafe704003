/** A test of Kubernetes that ran: its whole name, and `passed`, `failed`, `skipped` and so on. */
export type Result = { name: string; state: string; seconds: number }

/** Parses the line that reports a test's end; undefined for any other line. */
export function resultOf(line: string): Result | undefined {
  const [, state = '', seconds, name = ''] = /^RESULT (\S+) (\d+) (.+)$/.exec(line) ?? []
  return state === '' ? undefined : { name, state, seconds: Number(seconds) }
}

export type Expected = {
  /** The ends of the names. */
  tests: string[]
  /** Those that cannot pass here, with the reason. */
  cannotRunHere: Record<string, string>
}

/** Compares results with the expected ones; returns each difference as a sentence. */
export function problemsOf(results: Result[], { tests, cannotRunHere }: Expected): string[] {
  const problems = tests.flatMap((test) => {
    const state = results.find(({ name }) => name.includes(test))?.state
    if (state === undefined) return `did not run: ${test}`
    if (!(test in cannotRunHere)) return state === 'passed' ? [] : `${state}: ${test}`
    return state === 'passed' ? `passed, but is listed as one that cannot run here: ${test}` : []
  })
  const unlisted = results.filter(({ name }) => !tests.some((test) => name.includes(test)))
  return [...problems, ...unlisted.map(({ name, state }) => `${state}, but is in no list: ${name}`)]
}
