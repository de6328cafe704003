import type { Sweep } from '../ledger/sweep/sweep.ts'
import type { Reconciler } from './reconciler.ts'

/** The only key of the sweep: it looks at everything. */
export const sweepKey = 'all'

/** Compares the cloud with the ledger, again and again. */
export function ledgerSweep(deps: { sweep: Sweep; intervalMs: number }): Reconciler {
  return {
    name: 'ledger-sweep',
    async reconcile(_key, signal) {
      await deps.sweep(signal)
      return { againInMs: deps.intervalMs }
    },
  }
}
