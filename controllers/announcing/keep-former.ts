import { type Configurator, type FormerConfigurator, nothingDone } from './configurator.ts'

type Deps = {
  former: FormerConfigurator[]
  /** Asks for a pass. */
  request: () => void
}

/**
 * Leaves other software as we configured it, where load balancing is off. Only an address whose release waits for it is
 * taken out, with what no Service shows any more. Without such a release nothing is written: a predecessor may work here.
 */
export function keepFormer({ former, request }: Deps): Configurator {
  const asked = new Set<FormerConfigurator>()
  return {
    async carryOut(state, signal) {
      let isChanged = false
      // A waiting caller asks again, also after a failure.
      const due = [...asked]
      asked.clear()
      for (const one of due) isChanged = (await one.withdraw(state, signal)) || isChanged
      return { ...nothingDone, isChanged }
    },
    async announces(address, signal) {
      for (const one of former) {
        if (!(await one.announces(address, signal))) continue
        asked.add(one)
        request()
        return true
      }
      return false
    },
  }
}
