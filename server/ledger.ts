import { listAll } from '../kube/list-all.ts'
import type { Service } from '../kube/objects.ts'
import { splitKey } from '../kube/objects.ts'
import { services } from '../kube/resource.ts'
import { type AdoptionMark, adoptionMark } from '../ledger/adoption.ts'
import { asking } from '../ledger/asking.ts'
import { budget } from '../ledger/budget.ts'
import { type ClaimParts, type Claims, claims } from '../ledger/claim.ts'
import { type ElasticIP, claimKey, elasticIPs } from '../ledger/elastic-ip.ts'
import { overLimit } from '../ledger/limits.ts'
import { records } from '../ledger/records.ts'
import type { ReleaseParts } from '../ledger/release.ts'
import { shelf } from '../ledger/shelf.ts'
import { isFree, isWarm } from '../ledger/stock.ts'
import { type Want, isWanted } from '../ledger/want.ts'
import { names } from '../manifests/names.ts'
import type { Ground } from './ground.ts'
import type { Views } from './views.ts'

export type LedgerOptions = Ground & { want: (service: Service) => Want; views: Pick<Views, 'services' | 'records'> }

export type Ledger = { parts: ClaimParts & ReleaseParts; claims: Claims; mark: AdoptionMark }

const now = () => new Date()

/** The ledger of this cluster and this cloud. */
export function makeLedger(options: LedgerOptions): Ledger {
  const { client, vendor, cluster, identity, settings, log } = options
  const { namespace } = settings.process
  const { cloudTimeoutMs } = settings.cloud.settings
  const name = names.ledgerConfigMap
  const mark = adoptionMark({ client, namespace, name, project: vendor.project })
  // A question lists, waits for its turn and reserves; others leave it that long, and half a call longer.
  const budgetMs = 1.5 * cloudTimeoutMs
  const timeoutMs = 2 * cloudTimeoutMs
  const parts = {
    records: records(client),
    cloud: vendor.cloud,
    shelf: shelf(() => freeWarm(options)),
    scheme: { ...vendor.marks, cluster },
    identity,
    asking: asking({ timeoutMs, monotonicMs: () => performance.now() }),
    adopted: (signal: AbortSignal) => mark.isSet(signal),
    overLimit: limiter(options),
    budget: () => budget(budgetMs),
    now,
    log,
    stillWanted: (record: ElasticIP, signal: AbortSignal) => stillWanted(options, record, signal),
  }
  return { parts, claims: claims(parts), mark }
}

/** Warm addresses that seem to be free. One that a Service shows is not, whatever a restored ledger says. */
function freeWarm({ views }: LedgerOptions): ElasticIP[] {
  const free = views.records.list().filter((record) => isWarm(record) && isFree(record))
  const shown = new Set(free.length === 0 ? [] : views.services.list().map(({ spec }) => spec.loadBalancerIP))
  return free.filter(({ status }) => !shown.has(status?.address))
}

/** Counts what the API server has now, not what a copy has: a limit holds against races too. */
function limiter({ client, settings }: LedgerOptions): ClaimParts['overLimit'] {
  const { mostAddresses: cluster, mostAddressesPerNamespace: namespace } = settings.cloud.settings
  if (cluster === undefined && namespace === undefined) return () => Promise.resolve(undefined)
  return async (record, signal) =>
    overLimit(record, await listAll(client, elasticIPs, { signal }), { cluster, namespace })
}

/** Only a Service that is gone, is going, or plainly wants no address of ours, or another one, lets one go. */
async function stillWanted({ client, want }: LedgerOptions, record: ElasticIP, signal: AbortSignal): Promise<boolean> {
  const key = claimKey(record)
  const service = key === undefined ? undefined : await client.get(services, splitKey(key), { signal })
  if (!service || service.metadata.deletionTimestamp) return false
  return isWanted(record, want(service))
}
