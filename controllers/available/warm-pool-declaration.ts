import { warmPool, warmPoolKey } from './warm-pool.ts'
import type { ControllerDeclaration } from '../loop/controller.ts'
import { watch } from '../loop/watch.ts'
import { planWarm, unusedFor } from '../../ledger/available/warm-plan.ts'
import { addWarm } from '../../ledger/claim/reserve-warm.ts'
import { locate } from '../../ledger/want/location.ts'
import { sights } from '../../lib/sights.ts'
import type { Dependencies } from '../dependencies.ts'

type Deps = Pick<Dependencies, 'caches' | 'ledger' | 'vendor' | 'locations' | 'want' | 'settings' | 'log'>

/** How long changes are gathered into one reconcile. */
const gatherMs = 500

const resyncMs = 5 * 60_000

/** Keeps addresses reserved in every location that Services use. */
export function warmPoolController(deps: Deps): ControllerDeclaration {
  const { ledger, caches, vendor, settings, log } = deps
  const { services, records } = caches
  const { warmPool: size, unboundGraceMs: graceMs } = settings.cluster
  const seen = sights(() => performance.now())
  return {
    reconciler: warmPool({
      plan: () => {
        const locations = size > 0 && isServedByAddresses(vendor.policy) ? locationsOf(deps) : new Set<string>()
        return planWarm({ records: records.list(), locations, size, unusedForMs: unusedFor(seen, locations), graceMs })
      },
      add: (warm, signal) => addWarm(ledger.deps, warm, signal),
      release: (source, signal) =>
        ledger.deps.records.writeStatus(
          source,
          { phase: 'Releasing', message: 'the warm pool has enough' },
          { signal },
        ),
      report: (reason) => log.info({ reason }, 'the warm pool is not filled'),
    }),
    watches: [watch(services, () => [warmPoolKey], gatherMs), watch(records, () => [warmPoolKey], gatherMs)],
    needs: [services, records],
    keys: () => [warmPoolKey],
    resyncMs,
    retry: { firstMs: 1000, maxMs: resyncMs },
  }
}

/** Managed balancers have addresses of their own. */
function isServedByAddresses({ loadBalancing, managed }: Deps['vendor']['policy']): boolean {
  return loadBalancing && managed === undefined
}

/** Where a Service without a location gets its address, and where those that exist have theirs. */
function locationsOf({ caches, vendor, locations, want }: Deps): Set<string> {
  const usual = locate({}, vendor.policy.locationSources, locations.current())
  const live = caches.services.list().filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const wanted = live.map((service) => want(service)).flatMap((of) => (of.kind === 'reserve' ? [of.location] : []))
  return new Set([...wanted, ...('problem' in usual ? [] : [usual.location])])
}
