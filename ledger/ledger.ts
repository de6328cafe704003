import type { Reservation } from '../clouds/ports/cloud.ts'
import type { KubeClient } from '../kube/client.ts'
import { listAll } from '../kube/list-all.ts'
import { type Service, splitKey } from '../kube/objects.ts'
import { leases, nodeLeaseNamespace, services } from '../kube/resource.ts'
import { type AdoptionMark, adoptionMark, type Leader } from './sweep/adoption-mark.ts'
import { type LedgerMap, ledgerMap } from './sweep/ledger-map.ts'
import { type ClusterSigns, type ClusterSignsDeps, clusterSigns } from './sweep/cluster-signs.ts'
import { type HaltMemory, haltMemory } from './sweep/halt.ts'
import { witness } from './sweep/witness.ts'
import { systemClock } from '../kube/clock.ts'
import { type ProjectCheck, type ProjectCheckOptions, projectCheck } from './sweep/project-check.ts'
import { confirmProjectCommand, isProjectConfirmed, projectText } from './sweep/project-plan.ts'
import { listOrphans } from './sweep/orphan-list.ts'
import type { LossConfirmation } from './sweep/write-off.ts'
import { requestsInFlight } from './record/requests-in-flight.ts'
import { type IpAddress, canonicalIpAddress } from '../lib/ip-address.ts'
import { sharedRead } from '../lib/shared-read.ts'
import { timeLimit } from '../lib/time-limit.ts'
import { type Claims, claims, type ClaimDeps } from './claim/claim.ts'
import { type ElasticIP, claimKey, elasticIPs, isSecond, recordName, reservationIdOf } from './record/elastic-ip.ts'
import { grantedCheck } from './claim/granted-address.ts'
import { overLimit } from './claim/limits.ts'
import { turnover } from './claim/turnover.ts'
import { records } from './record/records.ts'
import type { ReleaseDeps } from './release/release.ts'
import { warmCandidates } from './available/claim-source.ts'
import { isAvailable, isWarm } from './record/source.ts'
import { isSecondWanted } from './want/second-want.ts'
import { type Want, isWanted } from './want/want.ts'
import { names } from '../settings/installed-names.ts'
import type { Context } from './context.ts'
import type { Caches } from './caches.ts'
import { cachedAddresses, readPossibleUsers } from './users/possible-users.ts'

export type LedgerOptions = Context & {
  want: (service: Service) => Want
  caches: Caches
  /** The Services that may use an address, by the cache. */
  users: (address: string) => Service[]
  /** The network of this cluster that contains an address, for a message. */
  clusterNetwork: (address: IpAddress) => string | undefined
}

export type Ledger = {
  deps: ClaimDeps & ReleaseDeps
  claims: Claims
  mark: AdoptionMark
  signs: ClusterSigns
  project: ProjectCheck
  loss: LossConfirmation
  listOrphans: (orphans: Reservation[], signal: AbortSignal) => Promise<void>
}

const now = () => new Date()

/** The ledger of this cluster and this cloud. */
export function makeLedger(options: LedgerOptions): Ledger {
  const { client, vendor, cluster, identity, settings, log, clusterNetwork } = options
  const { cloudTimeoutMs, maxAddressesPerNamespace } = settings.cluster
  const monotonicMs = () => performance.now()
  const at = { namespace: settings.process.namespace, name: names.ledgerConfigMap }
  const halt = haltMemory({ cluster, at })
  const map = ledgerMap({ client, ...at, halt, monotonicMs })
  const mark = adoptionMark({ map, project: vendor.project.id, identity, leader: leaderReader(options), monotonicMs })
  const scheme = { ...vendor.marks, cluster }
  const signs = makeSigns(options, { map, scheme, halt, monotonicMs })
  const project = makeProjectCheck(options, { map, at })
  // A claim lists, waits for its turn and reserves; other processes wait that long, and half a call longer.
  const budgetMs = 1.5 * cloudTimeoutMs
  const timeoutMs = 2 * cloudTimeoutMs
  const deps = {
    records: records(client, { identity, now }),
    cloud: vendor.cloud,
    warmCandidates: warmCandidates(freeWarm(options)),
    scheme,
    sweepsUntagged: settings.cluster.sweepUntagged,
    identity,
    possibleUsers: readPossibleUsers(client, vendor.policy),
    clusterNetwork,
    grantedProblem: grantedCheck(grantedFacts(options, monotonicMs)),
    requestsInFlight: requestsInFlight({ timeoutMs, monotonicMs, identity }),
    clusterState: () => signs.state(),
    haltReason: (signal: AbortSignal) => haltReason({ map, project, halt }, signal),
    isAdopted: (signal: AbortSignal) => mark.isSet(signal),
    overLimit: limiter(options),
    turnover: turnover({ limit: maxAddressesPerNamespace, now }),
    timeLimit: () => timeLimit(budgetMs),
    now,
    log,
    isStillWanted: (record: ElasticIP, signal: AbortSignal) => isStillWanted(options, record, signal),
  }
  const loss = lossConfirmation(options, { map, at })
  const ofSweep = { mark, signs, loss, listOrphans: listOrphans.bind(undefined, map) }
  return { deps, claims: claims(deps), project, ...ofSweep }
}

/** Why no claim may reach the cloud now. */
async function haltReason(
  { map, project, halt }: { map: LedgerMap; project: ProjectCheck; halt: HaltMemory },
  signal: AbortSignal,
): Promise<string | undefined> {
  const stored = await map.recent(signal)
  return project.haltReason(stored) ?? halt.reason(stored)
}

function grantedFacts(
  { client, caches, users, clusterNetwork, vendor }: LedgerOptions,
  monotonicMs: () => number,
): Parameters<typeof grantedCheck>[0] {
  return {
    clusterNetwork,
    classes: vendor.policy.classes,
    cached: { records: () => caches.records.list(), services: users },
    stored: {
      record: (name) => client.get(elasticIPs, { name }),
      service: ({ metadata }) => client.get(services, metadata),
    },
    reservation: (id, signal) => vendor.cloud.reservation(id, signal),
    monotonicMs,
  }
}

/** Who leads now: the holder of the lease since it acquired that, or this replica if there is no election. */
function leaderReader({ client, settings, identity }: LedgerOptions) {
  const { leaderElect, leaseNamespace, leaseName } = settings.process
  const lease = { namespace: leaseNamespace, name: leaseName }
  return async (signal: AbortSignal): Promise<Leader | undefined> => {
    if (!leaderElect) return { identity, since: '' }
    const { holderIdentity, acquireTime } = (await client.get(leases, lease, { signal }))?.spec ?? {}
    return { identity: holderIdentity, since: acquireTime }
  }
}

function makeProjectCheck(
  { vendor, client, cluster, events, metrics, log }: LedgerOptions,
  { map, at }: Pick<ProjectCheckOptions, 'map' | 'at'>,
): ProjectCheck {
  const recorder = events.of('service-controller')
  const check = projectCheck({
    map,
    at,
    project: vendor.project,
    cluster,
    held: async (signal) =>
      (await listAll(client, elasticIPs, { signal })).flatMap((record) => reservationIdOf(record) ?? []),
    list: (signal) => vendor.cloud.reservations({}, signal),
    log,
    event: (about, occurrence) => recorder.record(about, occurrence),
  })
  metrics.read('eip_admission_other_project', () => Number(check.problem() !== undefined))
  return check
}

/** With `confirm-project=<the project>` a person says that what the project no longer lists is gone. */
function lossConfirmation(
  { vendor, events, log }: LedgerOptions,
  { map, at }: Pick<ProjectCheckOptions, 'map' | 'at'>,
): LossConfirmation {
  const { project } = vendor
  const { id } = project
  const recorder = events.of('service-controller')
  return {
    isGiven: async (signal) => isProjectConfirmed(await map.read(signal), id),
    async end(signal) {
      const stored = await map.recent(signal)
      if (isProjectConfirmed(stored, id)) await map.change(stored, { project: id }, signal)
    },
    async warn(signal) {
      const message =
        `${projectText(project)} lists none of the reservations of this cluster: nothing is written off. ` +
        `If they are really gone, run: ${confirmProjectCommand({ at, project: id })}`
      log.error({ project: id }, message)
      const stored = await map.recent(signal)
      if (stored) recorder.record(stored, { type: 'Warning', reason: 'OtherProject', message })
    },
  }
}

function makeSigns(
  { client, caches, vendor, settings, events, metrics, log }: LedgerOptions,
  facts: Pick<ClusterSignsDeps, 'map' | 'scheme' | 'halt' | 'monotonicMs'>,
): ClusterSigns {
  const recorder = events.of('service-controller')
  const { sweepIntervalMs: intervalMs } = settings.cluster
  // The lease has to expire first, and a program to start.
  const successionMs = settings.process.leaseDurationMs + 60_000
  const event: ClusterSignsDeps['event'] = (map, occurrence) => recorder.record(map, occurrence)
  const kubelets = witness({
    nodes: () => caches.nodes.list(),
    renewTime: async (name, signal) =>
      (await client.get(leases, { namespace: nodeLeaseNamespace, name }, { signal }))?.spec?.renewTime,
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
    log,
  })
  const signs = clusterSigns({ ...facts, cloud: vendor.cloud, log, intervalMs, successionMs, event, witness: kubelets })
  metrics.read('eip_admission_cluster_id_in_use', () => {
    const { kind } = signs.state()
    return kind === 'unchecked' || kind === 'waiting' ? undefined : Number(kind === 'foreign')
  })
  return signs
}

/** Warm addresses that no Service shows, by our caches: what a claim tries first. It looks live before it takes one. */
function freeWarm({ caches, vendor }: LedgerOptions): () => ElasticIP[] {
  const shown = cachedAddresses(() => caches.services.list(), vendor.policy.classes)
  return () => {
    const free = caches.records.list().filter((record) => isWarm(record) && isAvailable(record))
    const inUse: ReadonlySet<string | undefined> = free.length === 0 ? new Set() : shown()
    return free.filter(({ status }) => !inUse.has(canonicalIpAddress(status?.address ?? '')))
  }
}

/** A cache of a healthy process shows a write within milliseconds. */
const seenWithinMs = 1_000

/**
 * Counts what was written before the record, its own write included, so that a limit also holds when replicas race. The
 * cache has that once it shows the record. Where it does not in time, claims that count at once share a list.
 */
function limiter({ client, settings, caches }: LedgerOptions): ClaimDeps['overLimit'] {
  const { maxAddresses: cluster, maxAddressesPerNamespace: namespace } = settings.cluster
  if (cluster === undefined && namespace === undefined) return () => Promise.resolve(undefined)
  const listed = sharedRead({
    read: (signal) => listAll(client, elasticIPs, { signal }),
    recentMs: 0,
    abandonedError: (cause) => new Error('nobody waits for the number of addresses', { cause }),
  })
  return async (record, signal) => {
    const isStored = record.metadata.resourceVersion !== undefined
    const isSeen = isStored && (await caches.records.hasReached(record, seenWithinMs))
    return overLimit(record, isSeen ? caches.records.list() : await listed.fresh(signal), { cluster, namespace })
  }
}

/** An address is released only if its Service is gone, is being deleted, or certainly wants none of ours or another. */
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
