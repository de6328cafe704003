/** A problem of the settings. `source` is absent if no source gave a value. */
export type Problem = { setting: string; source?: string; wrong: string; right: string }

/** All problems of the settings at once, with a message that is ready to print. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
  readonly problems: readonly Problem[]

  constructor(problems: readonly Problem[]) {
    super(formatProblems(problems))
    this.problems = problems
  }
}

function formatProblems(problems: readonly Problem[]): string {
  const count = problems.length === 1 ? '1 setting is wrong' : `${problems.length} settings are wrong`
  return [`eip-admission: ${count}:`, ...problems.map((problem) => `  - ${formatProblem(problem)}`)].join('\n')
}

/** The problem as a line of text. */
export function formatProblem({ setting, source, wrong, right }: Problem): string {
  return `${setting}: ${source === undefined ? wrong : `${source} ${wrong}`}; ${right}`
}
