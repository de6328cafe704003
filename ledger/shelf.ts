import { randomInt } from 'node:crypto'
import type { ElasticIP } from './elastic-ip.ts'

/** The warm addresses that a process may try to take, as its copy of the ledger shows them. */
export type Shelf = {
  /** One that seems to be free; nobody else in this process is given the same, until it has changed. */
  pick(location: string): ElasticIP | undefined
  /** It was not tried after all. */
  putBack(lot: ElasticIP): void
}

/** A shelf of what seems to be free. One of many is picked at random, so that replicas seldom try for the same. */
export function shelf(free: () => ElasticIP[]): Shelf {
  const picked = new Map<string, string | undefined>()
  return {
    pick(location) {
      const lots = free().filter(
        ({ metadata, spec }) => spec.location === location && picked.get(metadata.name) !== metadata.resourceVersion,
      )
      const lot = lots[randomInt(Math.max(1, lots.length))]
      if (lot) picked.set(lot.metadata.name, lot.metadata.resourceVersion)
      return lot
    },
    putBack: ({ metadata }) => void picked.delete(metadata.name),
  }
}
