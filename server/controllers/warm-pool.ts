import { runController } from '../../controllers/controller.ts'
import { warmPool, warmPoolKey } from '../../controllers/warm-pool.ts'
import { queue } from '../../kube/queue.ts'
import { locate } from '../../ledger/location.ts'
import { addWarm } from '../../ledger/warm.ts'
import { planWarm } from '../../ledger/warm-plan.ts'
import type { World } from '../world.ts'
import { type Controller, said } from './controller.ts'

/** Many changes at once are one look. */
const gatherMs = 500

const intervalMs = 5 * 60_000

/** Keeps addresses waiting where Services will want them. */
export function warmPools(world: World): Controller {
  const { ledger, views, vendor, settings, log } = world
  const { warmPool: size, unboundGraceMs: graceMs } = settings.cloud.settings
  const { parts } = ledger
  const keys = queue({ firstMs: 1000, mostMs: intervalMs, log })
  const lookSoon = () => keys.addAfter(warmPoolKey, gatherMs)
  views.services.onChange(lookSoon)
  views.records.onChange(lookSoon)
  const reconciler = warmPool({
    plan: () =>
      planWarm({
        records: views.records.list(),
        locations: size > 0 && vendor.policy.loadBalancing ? locationsOf(world) : new Set(),
        size,
        now: parts.now(),
        graceMs,
      }),
    add: (one, signal) => addWarm(parts, one, signal),
    release: (lot) => parts.records.writeStatus(lot, { phase: 'Releasing', message: 'the warm pool has enough' }),
    tell: (why) => log.info({ why }, 'the warm pool is not filled'),
    intervalMs,
  })
  return {
    async run(signal) {
      await Promise.all([views.services.synced(signal), views.records.synced(signal)])
      keys.add(warmPoolKey)
      await runController({ ...said(world), queue: keys, reconciler }, signal)
    },
  }
}

/** Where a Service that says nothing gets its address, and where those that there are have theirs. */
function locationsOf({ views, vendor, locations, want }: World): Set<string> {
  const usual = locate({}, vendor.policy.locationSources, locations.current())
  const live = views.services.list().filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const wanted = live.map((service) => want(service)).flatMap((of) => (of.kind === 'reserve' ? [of.location] : []))
  return new Set([...wanted, ...('problem' in usual ? [] : [usual.location])])
}
