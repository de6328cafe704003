/** The state of a takeover. `applied`: every step of `apply` is done. `undoing`: `undo` has started. */
export type TakeoverState = 'applying' | 'applied' | 'undoing'

/** The step that a run started last, where the next run continues. */
export type BegunStep = { title: string; number: number; of: number }

/** A takeover that was started. */
export type TakeoverStatus = {
  recorded: TakeoverState
  step: BegunStep
  /** The reasons why an applied takeover is no longer complete. */
  lacking: string[]
  /** The run that works on it, for people. */
  worker: string | undefined
}

/** Whether our program serves the cluster and the predecessor is stopped. */
export function isComplete(status: TakeoverStatus | undefined): boolean {
  return status?.recorded === 'applied' && status.lacking.length === 0
}

/** The command that continues a stopped takeover, and the one that reverses it. */
export function commandsOf({ recorded }: TakeoverStatus): ['apply', 'undo'] | ['undo', 'apply'] {
  return recorded === 'undoing' ? ['undo', 'apply'] : ['apply', 'undo']
}

/** The state of a takeover, for people. */
export function statusText(status: TakeoverStatus): string {
  const { recorded, step, lacking, worker } = status
  const at = `step ${step.number} of ${step.of}: ${step.title}`
  if (worker !== undefined) return `${worker}, at ${at}`
  if (isComplete(status)) return 'the takeover is complete'
  if (recorded === 'applied') return `the takeover was complete, but ${lacking.join(', and ')}`
  return `\`takeover ${commandsOf(status)[0]}\` stopped at ${at}`
}
