import { listAll } from '../kube/list-all.ts'
import type { Service } from '../kube/objects.ts'
import { splitKey } from '../kube/objects.ts'
import { services } from '../kube/resource.ts'
import { type AdoptionMark, adoptionMark } from '../ledger/sweep/adoption-mark.ts'
import { requestsInFlight } from '../ledger/record/requests-in-flight.ts'
import { canonicalIpAddress } from '../lib/ip-address.ts'
import { timeLimit } from '../lib/time-limit.ts'
import { type ClaimDeps, type Claims, claims } from '../ledger/claim/claim.ts'
import { type ElasticIP, claimKey, elasticIPs } from '../ledger/record/elastic-ip.ts'
import { overLimit } from '../ledger/claim/limits.ts'
import { records } from '../ledger/record/records.ts'
import type { ReleaseDeps } from '../ledger/release/release.ts'
import { warmCandidates } from '../ledger/available/warm-candidates.ts'
import { isAvailable, isWarm } from '../ledger/record/source.ts'
import { type Want, isWanted } from '../ledger/want/want.ts'
import { names } from '../manifests/names.ts'
import type { Context } from './context.ts'
import type { Caches } from './caches.ts'
import { allRequestAnnotations, cachedAddresses, readPossibleUsers } from './possible-users.ts'

export type LedgerOptions = Context & { want: (service: Service) => Want; caches: Pick<Caches, 'services' | 'records'> }

export type Ledger = { deps: ClaimDeps & ReleaseDeps; claims: Claims; mark: AdoptionMark }

const now = () => new Date()

/** The ledger of this cluster and this cloud. */
export function makeLedger(options: LedgerOptions): Ledger {
  const { client, vendor, cluster, identity, settings, log } = options
  const { namespace } = settings.process
  const { cloudTimeoutMs } = settings.cluster
  const name = names.ledgerConfigMap
  const mark = adoptionMark({ client, namespace, name, project: vendor.project })
  // A claim lists, waits for its turn and reserves; other processes wait that long, and half a call longer.
  const budgetMs = 1.5 * cloudTimeoutMs
  const timeoutMs = 2 * cloudTimeoutMs
  const requestAnnotations = allRequestAnnotations(vendor.policy.requestAnnotations)
  const deps = {
    records: records(client),
    cloud: vendor.cloud,
    warmCandidates: warmCandidates(freeWarm(options, requestAnnotations)),
    scheme: { ...vendor.marks, cluster },
    identity,
    possibleUsers: readPossibleUsers(client, requestAnnotations),
    requestsInFlight: requestsInFlight({ timeoutMs, monotonicMs: () => performance.now() }),
    isAdopted: (signal: AbortSignal) => mark.isSet(signal),
    overLimit: limiter(options),
    timeLimit: () => timeLimit(budgetMs),
    now,
    log,
    isStillWanted: (record: ElasticIP, signal: AbortSignal) => isStillWanted(options, record, signal),
  }
  return { deps, claims: claims(deps), mark }
}

/** Warm addresses that no Service shows, by our caches: what a claim tries first. It looks live before it takes one. */
function freeWarm({ caches }: LedgerOptions, requestAnnotations: readonly string[]): () => ElasticIP[] {
  const shown = cachedAddresses(() => caches.services.list(), requestAnnotations)
  return () => {
    const free = caches.records.list().filter((record) => isWarm(record) && isAvailable(record))
    const inUse: ReadonlySet<string | undefined> = free.length === 0 ? new Set() : shown()
    return free.filter(({ status }) => !inUse.has(canonicalIpAddress(status?.address ?? '')))
  }
}

/** Counts what the API server has now, not what a cache has, so that a limit also holds when replicas race. */
function limiter({ client, settings }: LedgerOptions): ClaimDeps['overLimit'] {
  const { maxAddresses: cluster, maxAddressesPerNamespace: namespace } = settings.cluster
  if (cluster === undefined && namespace === undefined) return () => Promise.resolve(undefined)
  return async (record, signal) =>
    overLimit(record, await listAll(client, elasticIPs, { signal }), { cluster, namespace })
}

/** An address is released only if its Service is gone, is being deleted, or certainly wants none of ours or another. */
async function isStillWanted(
  { client, want }: LedgerOptions,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<boolean> {
  const key = claimKey(record)
  const service = key === undefined ? undefined : await client.get(services, splitKey(key), { signal })
  if (!service || service.metadata.deletionTimestamp) return false
  return isWanted(record, want(service))
}
