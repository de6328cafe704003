import type { ControllerOptions } from '../../controllers/controller.ts'
import type { Dependencies } from '../dependencies.ts'

export type Controller = {
  /** Looks at everything once, then at what changes, until the signal aborts and what was begun has ended. */
  run(signal: AbortSignal): Promise<void>
}

/** What every controller says of its looks, and where. */
export function said({ log, metrics }: Dependencies): Pick<ControllerOptions, 'log' | 'observe'> {
  return { log, observe: (...look) => metrics.reconcile(...look) }
}
