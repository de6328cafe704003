import type { ControllerDeclaration } from '../loop/controller.ts'
import { watch } from '../loop/watch.ts'
import { planWarm, unusedFor, type WarmPlan } from '../../ledger/available/warm-plan.ts'
import { locate } from '../../ledger/want/location.ts'
import { sights } from '../../lib/sights.ts'
import type { Dependencies } from '../dependencies.ts'
import type { LedgerWork } from '../../ledger/ledger.ts'
import type { Reconciler } from '../loop/reconciler.ts'

/** The only key of the warm pool, which is planned as a whole. */
export const warmPoolKey = 'all'

type Deps = Pick<Dependencies, 'caches' | 'ledger' | 'vendor' | 'locations' | 'want' | 'settings' | 'log'>

/** How long changes are gathered into one reconcile. */
const gatherMs = 500

const resyncMs = 5 * 60_000

/** How soon we look again while the provider's locations are unknown. */
const unknownMs = 1000

/** Keeps addresses reserved in the default location, and in every other one that Services use. */
export function warmPoolController(deps: Deps): ControllerDeclaration {
  const { ledger, caches, vendor, settings, log } = deps
  const { services, records } = caches
  const { warmPool: size, unboundGraceMs: graceMs } = settings.cluster
  const seen = sights(() => performance.now())
  return {
    reconciler: warmPool({
      ledger,
      plan: () => {
        // A location's spelling may be no code. Bought as written, its address would never match a Service.
        if (size > 0 && deps.locations.current() === undefined) return undefined
        // Managed balancers have addresses of their own.
        const locations =
          size > 0 && vendor.policy.loadBalancing && vendor.policy.managed === undefined
            ? locationsOf(deps)
            : new Set<string>()
        return planWarm({ records: records.list(), locations, size, unusedForMs: unusedFor(seen, locations), graceMs })
      },
      report: (reason) => log.info({ reason }, 'the warm pool could not be filled'),
    }),
    watches: [watch(services, () => [warmPoolKey], gatherMs), watch(records, () => [warmPoolKey], gatherMs)],
    needs: [services, records],
    prepare: async () => seen.forget(),
    keys: () => [warmPoolKey],
    resyncMs,
    retry: { firstMs: 1000, maxMs: resyncMs },
  }
}

/** Where Services get addresses: the default location, and those of existing Services. */
function locationsOf({ caches, vendor, locations, want }: Deps): Set<string> {
  const usual = locate({}, vendor.policy.locationSources, locations.current())
  const live = caches.services.list().filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const wanted = live.map((service) => want(service)).flatMap((of) => (of.kind === 'reserve' ? [of.location] : []))
  return new Set([...wanted, ...('problem' in usual ? [] : [usual.location])])
}

type WarmPoolDeps = {
  ledger: Pick<LedgerWork, 'addWarm' | 'endWarm'>
  /** Undefined while the provider's locations are unknown. */
  plan: () => WarmPlan | undefined
  /** Receives each new reason why the pool is not filled. */
  report: (reason: string) => void
}

/** Keeps the warm pool at its size. It only writes and ends records; each address is reserved by its own controller. */
export function warmPool({ ledger, plan: planNow, report }: WarmPoolDeps): Reconciler {
  let reported: string | undefined
  return {
    name: 'warm-pool',
    async reconcile(_key, signal) {
      const plan = planNow()
      if (!plan) return { againInMs: unknownMs }
      for (const source of plan.surplus) await ledger.endWarm(source, signal)
      let reason: string | undefined
      for (const warm of plan.add) reason = (await ledger.addWarm(warm, signal)) ?? reason
      if (reason !== undefined && reason !== reported) report(reason)
      reported = reason
      return {}
    },
  }
}
