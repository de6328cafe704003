import { randomInt } from 'node:crypto'
import type { ElasticIP } from '../record/elastic-ip.ts'

/** The warm addresses that a process may try to take, as its copy of the ledger shows them. */
export type WarmCandidates = {
  /** One that seems to be free; nobody else in this process is given the same, until it has changed. */
  pick(location: string): ElasticIP | undefined
  /** It was not tried after all. */
  unpick(source: ElasticIP): void
}

/** A shelf of what seems to be free. One of many is picked at random, so that replicas seldom try for the same. */
export function warmCandidates(free: () => ElasticIP[]): WarmCandidates {
  const picked = new Map<string, string | undefined>()
  return {
    pick(location) {
      const candidates = free().filter(
        ({ metadata, spec }) => spec.location === location && picked.get(metadata.name) !== metadata.resourceVersion,
      )
      const source = candidates[randomInt(Math.max(1, candidates.length))]
      if (source) picked.set(source.metadata.name, source.metadata.resourceVersion)
      return source
    },
    unpick: ({ metadata }) => void picked.delete(metadata.name),
  }
}
