import type { Finding } from './plan/plan.ts'

/**
 * How a command ends before it is complete. `blocked`: it began nothing, because of its blockers. `refused`: another
 * run or the cluster blocks it, so repeating it does not help. `stopped`: by a signal. `unfinished`: a step failed.
 * `failed`: something failed before the first step.
 */
type EndState = 'blocked' | 'refused' | 'stopped' | 'unfinished' | 'failed'

/** The only error with which `plan`, `apply` and `undo` end before their last step. */
export class End extends Error {
  override readonly name = 'End'
  readonly state: EndState
  readonly blockers: readonly Finding[]

  constructor(
    state: EndState,
    message: string,
    { blockers = [], ...options }: ErrorOptions & { blockers?: readonly Finding[] } = {},
  ) {
    super(message, options)
    this.state = state
    this.blockers = blockers.map(({ reason, where, what, remedy }) => ({ reason, where, what, remedy }))
  }
}

/** The end that an error means; `state` applies if the error is not an End itself. */
export function endOf(error: unknown, state: EndState): End {
  if (error instanceof End) return error
  return new End(state, error instanceof Error ? error.message : String(error), { cause: error })
}

/** Ends a command that has begun nothing, if anything blocks it. */
export function endIfBlocked(blockers: readonly Finding[]): void {
  const { length } = blockers
  if (length > 0) throw new End('blocked', blockingText(length), { blockers })
}

/** The number of blockers, for people. */
export function blockingText(count: number): string {
  return count === 1 ? '1 thing blocks the migration' : `${count} things block the migration`
}
