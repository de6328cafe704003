import type { ControllerDeclaration } from './controller.ts'

/** The only key of periodic work, which looks at everything at once. */
export const periodicKey = 'all'

export type PeriodicWork = {
  name: string
  /** Does the work once; returns how soon it is due again, where that is not after the interval. */
  run: (signal: AbortSignal) => Promise<number | undefined>
  /** How long after a run the next one is due. */
  everyMs: number
}

/** The declaration of a controller that does its work at an interval, and not for an object. */
export function periodicWork({
  name,
  run,
  everyMs,
}: PeriodicWork): Pick<ControllerDeclaration, 'reconciler' | 'keys' | 'resyncMs'> {
  return {
    reconciler: {
      name,
      async reconcile(_key, signal) {
        const againInMs = await run(signal)
        return againInMs === undefined ? {} : { againInMs }
      },
    },
    keys: () => [periodicKey],
    resyncMs: everyMs,
  }
}
