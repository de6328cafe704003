import type { KubeClient } from '../kube/client.ts'
import { type Service, splitKey } from '../kube/objects.ts'
import { services } from '../kube/resource.ts'
import { type Identity, makeIdentity } from './identity/identity.ts'
import { listOrphans } from './identity/ledger-map.ts'
import { requestsInFlight } from './record/requests-in-flight.ts'
import { type IpAddress, canonicalIpAddress } from '../lib/ip-address.ts'
import { timeLimit } from '../lib/time-limit.ts'
import { statusAddresses } from './record/address-use.ts'
import { bind, bindSource, noteProtection, setReclaimPolicy } from './claim/stored-record.ts'
import { claims, type ClaimDeps } from './claim/claim.ts'
import { addWarm, reserveWarm } from './claim/reserve-warm.ts'
import { correctRecord } from './record/reset-record.ts'
import { type Judged, foreignReasonOf } from './record/marks.ts'
import { provision, provisionedCheck } from './available/provision.ts'
import { clearSource, reclaimSource, restoreClaim, transferWarm, warmCandidates } from './available/claim-source.ts'
import { recoverRecords } from './sweep/adopt.ts'
import { type Sweep, type SweepDeps, sweep } from './sweep/sweep.ts'
import { type AddressKey, type ElasticIP, claimKey, elasticIPs, isSecond, recordName } from './record/elastic-ip.ts'
import { grantedCheck } from './claim/granted-address.ts'
import { overLimit } from './claim/limits.ts'
import { turnover } from './claim/turnover.ts'
import { holdRecord, observeRecord, records } from './record/records.ts'
import {
  type ReleaseDeps,
  type ReleaseOptions,
  postponeRelease,
  release,
  releaseSource,
  retain,
} from './release/release.ts'
import { isAvailable, isWarm } from './record/source.ts'
import { isSecondWanted, isWanted } from './want/wanted.ts'
import type { Want } from './want/want.ts'
import type { Context } from './context.ts'
import type { Caches } from './caches.ts'
import { type RecordsSince, readPossibleUsers, readRecordsSince } from './users/possible-users.ts'

export type LedgerOptions = Context & {
  want: (service: Service) => Want
  caches: Caches
  /** The Services in the cache that may use an address. */
  users: (address: string) => Service[]
  /** The network of this cluster that contains an address, for a message. */
  clusterNetwork: (address: IpAddress) => string | undefined
}

export type Ledger = Pick<Identity, 'mark' | 'heartbeats' | 'project'> &
  ReturnType<typeof ledgerWork> & {
    /** The sweep of this ledger, with the controller's facts about the cluster. */
    sweep: (facts: Omit<SweepDeps, keyof LedgerParts | keyof OfSweep>) => Sweep
  }

type LedgerParts = ClaimDeps & ReleaseDeps & Pick<Identity, 'loss'>

type OfSweep = Pick<SweepDeps, 'mark' | 'heartbeats' | 'listOrphans'>

/** The work of webhooks and controllers on records and reservations. */
export function ledgerWork(parts: LedgerParts) {
  type Work<Of, Result> = (by: LedgerParts, of: Of, signal: AbortSignal) => Promise<Result>
  const on =
    <Of, Result>(work: Work<Of, Result>) =>
    (of: Of, signal: AbortSignal) =>
      work(parts, of, signal)
  return {
    claims: claims(parts),
    /** How long a claim that begins now may take. */
    timeLimit: parts.timeLimit,
    getRecord: on(({ records: all }, key: AddressKey, signal) => all.get(key, { signal })),
    foreignReason: (record: ElasticIP | undefined, found: Judged) => foreignReasonOf(parts, record, found),
    bind: on(bind),
    setReclaimPolicy: on(setReclaimPolicy),
    noteProtection: on(noteProtection),
    holdRecord: on(holdRecord),
    observeRecord: on(observeRecord),
    /** `unassign` frees an address that a machine may still have. */
    releaseWith: (unassign: ReleaseDeps['unassign']) => (of: ReleaseOptions, signal: AbortSignal) =>
      release({ ...parts, unassign }, of, signal),
    recoverRecords: on(recoverRecords),
    postponeRelease: on(postponeRelease),
    retain: on(retain),
    correctRecord: on(correctRecord),
    reserveWarm: (source: ElasticIP) => reserveWarm(parts, source),
    addWarm: on(addWarm),
    endWarm: on(({ records: all }, source: ElasticIP, signal) =>
      all.writeStatus(source, { phase: 'Releasing', message: 'the warm pool has enough' }, { signal }),
    ),
    provision: on(provision),
    provisionedCheck: (of: Parameters<typeof provisionedCheck>[1]) => provisionedCheck(parts, of),
    releaseSource: on(releaseSource),
    transferWarm: on(transferWarm),
    bindSource: on(bindSource),
    restoreClaim: on(restoreClaim),
    reclaimSource: on(reclaimSource),
    clearSource: on(clearSource),
    removeRecord: on(({ records: all }, record: ElasticIP, signal) => all.remove(record, { signal })),
  }
}

export type LedgerWork = ReturnType<typeof ledgerWork>

const now = () => new Date()

/** The ledger of this cluster at this provider. */
export function makeLedger(options: LedgerOptions): Ledger {
  const { client, vendor, cluster, identity, settings, log, caches, clusterNetwork } = options
  const { cloudTimeoutMs, maxAddressesPerNamespace } = settings.cluster
  const monotonicMs = () => performance.now()
  const { map, haltReason, isAdopted, clusterState, ...ofSweep } = makeIdentity({
    ...options,
    nodes: () => caches.nodes.list(),
    monotonicMs,
  })
  const recordsSince = readRecordsSince(client, caches.records)
  // A claim lists, waits for its turn and reserves. Other processes wait that long, and half a call longer.
  const budgetMs = 1.5 * cloudTimeoutMs
  const timeoutMs = 2 * cloudTimeoutMs
  const deps = {
    records: records(client, { identity, now }),
    cloud: vendor.cloud,
    warmCandidates: warmCandidates(freeWarm(options)),
    scheme: { ...vendor.marks, cluster },
    sweepsUntagged: settings.cluster.sweepUntagged,
    identity,
    possibleUsers: readPossibleUsers(client, { policy: vendor.policy, recordsSince }),
    clusterNetwork,
    grantedProblem: grantedCheck(grantedFacts(options, monotonicMs)),
    requestsInFlight: requestsInFlight({ timeoutMs, monotonicMs, identity }),
    haltReason,
    isAdopted,
    clusterState,
    overLimit: limiter(options, recordsSince),
    turnover: turnover({ limit: maxAddressesPerNamespace, now }),
    timeLimit: () => timeLimit(budgetMs),
    monotonicMs,
    now,
    log,
    want: options.want,
    loss: ofSweep.loss,
    reclaimPolicy: vendor.policy.reclaimPolicy,
    isStillWanted: (record: ElasticIP, signal: AbortSignal) => isStillWanted(options, record, signal),
  }
  const orphans = { listOrphans: listOrphans.bind(undefined, map) }
  return { ...ofSweep, ...ledgerWork(deps), sweep: (facts) => sweep({ ...deps, ...ofSweep, ...orphans, ...facts }) }
}

function grantedFacts(
  { client, caches, users, clusterNetwork, vendor, want }: LedgerOptions,
  monotonicMs: () => number,
): Parameters<typeof grantedCheck>[0] {
  return {
    clusterNetwork,
    cached: { records: () => caches.records.list(), services: users },
    stored: {
      record: (name) => client.get(elasticIPs, { name }),
      service: ({ metadata }) => client.get(services, metadata),
    },
    reservation: (id, signal) => vendor.cloud.reservation(id, signal),
    want,
    monotonicMs,
  }
}

/** Warm addresses that no Service in our caches shows. A claim tries them first, after a live check. */
function freeWarm({ caches, users }: LedgerOptions): () => ElasticIP[] {
  const isShown = (address: string) => users(address).some((service) => statusAddresses(service).includes(address))
  return () =>
    caches.records
      .list()
      .filter((record) => isWarm(record) && isAvailable(record))
      .filter(({ status }) => !isShown(canonicalIpAddress(status?.address ?? '') ?? ''))
}

/** Counts all records written before this one, and this one, so that a limit also holds when replicas race. */
function limiter({ settings }: LedgerOptions, recordsSince: RecordsSince): ClaimDeps['overLimit'] {
  const { maxAddresses: cluster, maxAddressesPerNamespace: namespace } = settings.cluster
  if (cluster === undefined && namespace === undefined) return () => Promise.resolve(undefined)
  return async (record, signal) => {
    const isStored = record.metadata.resourceVersion !== undefined
    const all = await recordsSince(isStored ? record : undefined, signal)
    return overLimit(record, all, { cluster, namespace })
  }
}

/**
 * Whether an address must be kept: its Service exists, is not being deleted, and does not certainly want another
 * address or none of ours.
 */
export async function isStillWanted(
  { client, want }: { client: KubeClient } & Pick<LedgerOptions, 'want'>,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<boolean> {
  const key = claimKey(record)
  if (key === undefined) return false
  const service = await client.get(services, splitKey(key), { signal })
  if (!service || service.metadata.deletionTimestamp) return false
  const wanted = want(service)
  if (!isSecond(record)) return isWanted(record, wanted)
  const first = await client.get(elasticIPs, { name: recordName(key) }, { signal })
  return isSecondWanted(record, { service, wanted, first })
}
