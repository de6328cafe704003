import { runController } from '../../controllers/controller.ts'
import { warmPool, warmPoolKey } from '../../controllers/available/warm-pool.ts'
import { queue } from '../../kube/queue.ts'
import { locate } from '../../ledger/want/location.ts'
import { addWarm } from '../../ledger/claim/reserve-warm.ts'
import { planWarm } from '../../ledger/available/warm-plan.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Controller, said } from './controller.ts'

/** Many changes at once are one look. */
const gatherMs = 500

const intervalMs = 5 * 60_000

/** Keeps addresses waiting where Services will want them. */
export function warmPools(deps: Dependencies): Controller {
  const { ledger, caches, vendor, settings, log } = deps
  const { warmPool: size, unboundGraceMs: graceMs } = settings.cloud.settings
  const { deps: ledgerDeps } = ledger
  const keys = queue({ firstMs: 1000, maxMs: intervalMs, log })
  const lookSoon = () => keys.addAfter(warmPoolKey, gatherMs)
  caches.services.onChange(lookSoon)
  caches.records.onChange(lookSoon)
  const reconciler = warmPool({
    plan: () =>
      planWarm({
        records: caches.records.list(),
        locations: size > 0 && vendor.policy.loadBalancing ? locationsOf(deps) : new Set(),
        size,
        now: ledgerDeps.now(),
        graceMs,
      }),
    add: (one, signal) => addWarm(ledgerDeps, one, signal),
    release: (source, signal) =>
      ledgerDeps.records.writeStatus(source, { phase: 'Releasing', message: 'the warm pool has enough' }, { signal }),
    tell: (why) => log.info({ why }, 'the warm pool is not filled'),
    intervalMs,
  })
  return {
    async run(signal) {
      await Promise.all([caches.services.synced(signal), caches.records.synced(signal)])
      keys.add(warmPoolKey)
      await runController({ ...said(deps), queue: keys, reconciler }, signal)
    },
  }
}

/** Where a Service that says nothing gets its address, and where those that there are have theirs. */
function locationsOf({ caches, vendor, locations, want }: Dependencies): Set<string> {
  const usual = locate({}, vendor.policy.locationSources, locations.current())
  const live = caches.services.list().filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const wanted = live.map((service) => want(service)).flatMap((of) => (of.kind === 'reserve' ? [of.location] : []))
  return new Set([...wanted, ...('problem' in usual ? [] : [usual.location])])
}
