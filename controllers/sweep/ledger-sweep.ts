import type { Sweep } from '../../ledger/sweep/sweep.ts'
import type { Reconciler } from '../loop/reconciler.ts'

/** The only key of the sweep, which compares everything at once. */
export const sweepKey = 'all'

/** Compares the cloud with the ledger. */
export function ledgerSweep(sweep: Sweep): Reconciler {
  return {
    name: 'ledger-sweep',
    async reconcile(_key, signal) {
      const againInMs = await sweep(signal)
      return againInMs === undefined ? {} : { againInMs }
    },
  }
}
