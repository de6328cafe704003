import type { Reconciler } from '../reconciler.ts'

export type PrefixLimitDeps = {
  /** How many addresses every node announces. */
  announced: () => number
  /** How many the routers of the cloud take from a node. */
  most: number
  warn: (message: string) => void
}

/** The only key of the limit: every node announces the same addresses. */
export const prefixLimitKey = 'all'

/** Tells a person, once each time it comes to that, that the next Service may cost all the others their traffic. */
export function prefixLimit({ announced, most, warn }: PrefixLimitDeps): Reconciler {
  let isOver = false
  return {
    name: 'prefix-limit',
    async reconcile() {
      const count = announced()
      if (count > most && !isOver) {
        const limit = `the routers of the cloud take ${most} from a node, and end its session for good beyond that`
        warn(`${count} addresses are announced, but ${limit}: take some Services away, or have the limit raised`)
      }
      isOver = count > most
      return {}
    },
  }
}
