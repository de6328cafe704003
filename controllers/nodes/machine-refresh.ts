import type { Reconciler } from '../reconciler.ts'
import type { MachineList } from './machine-list.ts'

/** The only key of the refresh: it is one list for all nodes. */
export const refreshKey = 'all'

export type MachineRefreshDeps = {
  machines: MachineList
  intervalMs: number
  hasNodes: () => boolean
  /** Has every node looked at with what the list said. */
  look: () => void
}

/** Lists the machines again and again, so that no settled node has to ask for its own. */
export function machineRefresh({ machines, intervalMs, hasNodes, look }: MachineRefreshDeps): Reconciler {
  return {
    name: 'machine-refresh',
    async reconcile(_key, signal) {
      if (hasNodes()) {
        await machines.within(0, signal)
        look()
      }
      return { againInMs: intervalMs }
    },
  }
}
