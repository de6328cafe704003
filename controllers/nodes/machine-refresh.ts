import type { MachineList } from '../facts/machine-list.ts'

export type MachineRefreshDeps = {
  machines: MachineList
  hasNodes: () => boolean
}

export type MachineRefresh = {
  run: (signal: AbortSignal) => Promise<undefined>
  /** Calls the listener whenever the machines were listed here. */
  onChange(listener: () => void): void
}

/** Lists the machines of a cluster that has nodes: a single list serves all of them. */
export function machineRefresh({ machines, hasNodes }: MachineRefreshDeps): MachineRefresh {
  const listeners: (() => void)[] = []
  return {
    onChange: (listener) => void listeners.push(listener),
    async run(signal) {
      if (!hasNodes()) return
      await machines.within(0, signal)
      for (const listener of listeners) listener()
    },
  }
}
