import { randomInt } from 'node:crypto'
import type { ElasticIP } from '../record/elastic-ip.ts'

/** The warm addresses that this process may try to claim, as its cache of the records shows them. */
export type WarmCandidates = {
  /** One that seems to be available; this process picks the same one again only after its record has changed. */
  pick(location: string): ElasticIP | undefined
  /** Makes one available to `pick` again that was not tried after all. */
  unpick(source: ElasticIP): void
}

/** Picks among the available warm addresses at random, so that two replicas seldom try the same one. */
export function warmCandidates(listAvailable: () => ElasticIP[]): WarmCandidates {
  const picked = new Map<string, string | undefined>()
  return {
    pick(location) {
      const candidates = listAvailable().filter(
        ({ metadata, spec }) => spec.location === location && picked.get(metadata.name) !== metadata.resourceVersion,
      )
      const source = candidates[randomInt(Math.max(1, candidates.length))]
      if (source) picked.set(source.metadata.name, source.metadata.resourceVersion)
      return source
    },
    unpick: ({ metadata }) => void picked.delete(metadata.name),
  }
}
