import type { Reconciler } from '../loop/reconciler.ts'

export type PrefixLimitDeps = {
  /** How many addresses every node announces. */
  countAnnounced: () => number
  /** How many the routers of the cloud accept from a node. */
  max: number
  warn: (message: string) => void
}

/** The only key of the limit, as every node announces the same addresses. */
export const prefixLimitKey = 'all'

/** Warns, each time the number exceeds the limit, that all Services may lose their traffic. */
export function prefixLimit({ countAnnounced, max, warn }: PrefixLimitDeps): Reconciler {
  let isOver = false
  return {
    name: 'prefix-limit',
    async reconcile() {
      const count = countAnnounced()
      if (count > max && !isOver) {
        const limit = `the routers of the cloud accept ${max} from a node, and end its session for good if it sends more`
        warn(`${count} addresses are announced, but ${limit}: delete some Services, or have the vendor raise the limit`)
      }
      isOver = count > max
      return {}
    },
  }
}
