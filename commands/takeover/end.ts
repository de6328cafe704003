import type { Finding } from './plan/plan.ts'

/**
 * How a command ends that does not do everything. `nothing`: there is nothing to do. `blocked`: it began nothing, because of
 * its blockers. `refused`: another run or the cluster is in its way, so repeating it does not help. `stopped`: by a signal.
 * `unfinished`: a step failed. `failed`: so did something before the first step.
 */
type EndState = 'nothing' | 'blocked' | 'refused' | 'stopped' | 'unfinished' | 'failed'

/** The only error by which `plan`, `apply` and `undo` end before their last step. */
export class End extends Error {
  override readonly name = 'End'
  readonly state: EndState
  readonly blockers: readonly Finding[]

  constructor(
    state: EndState,
    message: string,
    { blockers = [], cause }: { blockers?: readonly Finding[]; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.state = state
    this.blockers = blockers
  }
}

/** The end by any error; `state` where the error is not an end itself. */
export function endOf(error: unknown, state: EndState): End {
  if (error instanceof End) return error
  return new End(state, error instanceof Error ? error.message : String(error), { cause: error })
}

/** The end of a command that has begun nothing, with everything that stands in its way and its remedy. */
export function inTheWay(blockers: readonly Finding[]): End {
  const count = `${blockers.length} ${blockers.length === 1 ? 'thing stands' : 'things stand'} in the way`
  return new End('blocked', count, { blockers })
}
