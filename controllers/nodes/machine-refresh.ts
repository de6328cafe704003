import type { Reconciler } from '../loop/reconciler.ts'
import type { MachineList } from '../facts/machine-list.ts'

/** The only key of the refresh: one list serves all nodes. */
export const refreshKey = 'all'

export type MachineRefreshDeps = {
  machines: MachineList
  hasNodes: () => boolean
}

export type MachineRefresh = Reconciler & {
  /** Calls the listener whenever the machines were listed here. */
  onChange(listener: () => void): void
}

/** Lists the machines of a cluster that has nodes. */
export function machineRefresh({ machines, hasNodes }: MachineRefreshDeps): MachineRefresh {
  const listeners: (() => void)[] = []
  return {
    onChange: (listener) => void listeners.push(listener),
    name: 'machine-refresh',
    async reconcile(_key, signal) {
      if (hasNodes()) {
        await machines.within(0, signal)
        for (const listener of listeners) listener()
      }
      return {}
    },
  }
}
