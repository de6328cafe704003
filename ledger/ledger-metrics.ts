import { sights } from '../lib/sights.ts'
import { countedAddresses } from './claim/limits.ts'
import { type ElasticIP, claimKey, isUnbound, phaseOf } from './record/elastic-ip.ts'
import type { Unneeded } from './sweep/sweep.ts'
import { unannounced } from './record/address-use.ts'
import type { Caches } from './caches.ts'
import type { Context } from './context.ts'
import type { Metrics } from '../telemetry/metrics/metrics.ts'

type Watched = Pick<Context, 'settings' | 'metrics'> & { caches: Caches }

/** Measures the addresses of the cluster, their limits, and the freshness of our caches. */
export function readLedger({ caches, settings, metrics }: Watched): void {
  const records = () => caches.records.list()
  metrics.readEach('eip_admission_addresses', () => {
    const groups = Map.groupBy(records(), (record) => JSON.stringify(placeOf(record)))
    return [...groups.values()].flatMap(([first, ...others]) =>
      first ? [{ labels: placeOf(first), value: 1 + others.length }] : [],
    )
  })
  metrics.read('eip_admission_oldest_pending_seconds', () => {
    const waits = records()
      .filter((record) => isPending(record) && isAwaited(record, caches))
      .map(ageS)
    return Math.max(0, ...waits)
  })
  const seen = sights(() => performance.now())
  metrics.read('eip_admission_oldest_unannounced_seconds', () => {
    const silent = new Set(unannounced(records(), (key) => caches.services.get(key)))
    // Visits every record, so that one that is announced again is forgotten.
    const ages = records().map((record) =>
      seen.forMs(record.metadata.name, silent.has(record) ? record.status?.address : undefined),
    )
    return Math.max(0, ...ages) / 1000
  })
  const { maxAddresses: cluster, maxAddressesPerNamespace: namespace, maxUnbound: unbound } = settings.cluster
  metrics.readEach('eip_admission_addresses_limit', () =>
    Object.entries({ cluster, namespace, unbound }).flatMap(([scope, value]) =>
      value === undefined ? [] : [{ labels: { scope }, value }],
    ),
  )
  metrics.readEach('eip_admission_addresses_counted', () =>
    Object.entries(countedIn(caches)).map(([scope, value]) => ({ labels: { scope }, value })),
  )
  readWatches(metrics, caches)
}

/** The addresses that count against each limit. A stored Service waits for its controller, and needs no limit. */
function countedIn({ records, services }: Caches): { cluster: number; namespace: number; unbound: number } {
  const all = countedAddresses(records.list())
  const claimed = all.filter(({ spec }) => spec.claimRef !== undefined)
  const namespaces = Map.groupBy(claimed, ({ spec }) => spec.claimRef?.namespace)
  const sizes = [...namespaces.values()].map(({ length }) => length)
  const unbound = claimed.filter((record) => isUnbound(record) && services.get(claimKey(record) ?? '') === undefined)
  return { cluster: all.length, namespace: Math.max(0, ...sizes), unbound: unbound.length }
}

/** Counts the unneeded reservations that each sweep finds, and remembers when the last sweep ended. */
export function sweepObserver(metrics: Metrics): (unneeded: Unneeded) => void {
  let last: { unneeded: Unneeded; endedAtMs: number } | undefined
  metrics.read('eip_admission_last_sweep_timestamp_seconds', () => last && last.endedAtMs / 1000)
  metrics.readEach('eip_admission_unneeded_reservations', () =>
    Object.entries(last?.unneeded ?? {}).map(([kind, value]) => ({ labels: { kind }, value })),
  )
  return (unneeded) => void (last = { unneeded, endedAtMs: Date.now() })
}

/** Only caches that run: one that was never started has no watch. */
function readWatches(metrics: Metrics, caches: Caches): void {
  metrics.readEach('eip_admission_watch_silent_seconds', () =>
    Object.entries(caches)
      .filter(([, cache]) => cache.hasSynced())
      .map(([kind, cache]) => ({ labels: { kind }, value: cache.silentForMs() / 1000 })),
  )
}

function placeOf(record: ElasticIP): { phase: string; location: string } {
  return { phase: phaseOf(record), location: record.spec.location ?? '' }
}

function isPending(record: ElasticIP): boolean {
  return phaseOf(record) === 'Requested' && record.metadata.deletionTimestamp === undefined
}

/**
 * Whether a Service waits for the address. None waits for a warm or provisioned one, nor for that of a refused create,
 * whose record stays for the grace period.
 */
function isAwaited(record: ElasticIP, { services }: Caches): boolean {
  const key = claimKey(record)
  return key !== undefined && services.get(key) !== undefined
}

function ageS({ metadata }: ElasticIP): number {
  const createdMs = Date.parse(metadata.creationTimestamp ?? '')
  return Number.isNaN(createdMs) ? 0 : (Date.now() - createdMs) / 1000
}
