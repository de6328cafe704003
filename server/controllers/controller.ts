import type { ControllerOptions } from '../../controllers/controller.ts'
import type { World } from '../world.ts'

export type Controller = {
  /** Looks at everything once, then at what changes, until the signal aborts and what was begun has ended. */
  run(signal: AbortSignal): Promise<void>
}

/** What every controller says of its looks, and where. */
export function said({ log, metrics }: World): Pick<ControllerOptions, 'log' | 'observe'> {
  return { log, observe: (...look) => metrics.reconcile(...look) }
}
