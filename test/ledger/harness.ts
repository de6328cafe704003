// A cluster, one cloud project, and as many of our processes as a test needs.
import { KubeError } from '../../kube/errors.ts'
import type { Announcer } from '../../announcers/announcer.ts'
import { empty } from '../../announcers/empty.ts'
import type { Cloud, MarkScheme } from '../../clouds/ports/cloud.ts'
import type { Announcement } from '../../controllers/announcing/announcing.ts'
import type { Outcome } from '../../controllers/loop/reconciler.ts'
import { serviceAddress } from '../../controllers/services/service-address.ts'
import { serviceSteps } from '../../controllers/services/service-steps.ts'
import { availableAddress, availableSteps } from '../../controllers/available/declaration.ts'
import { warmPool, warmPoolKey } from '../../controllers/available/warm-pool.ts'
import { patch } from '../../controllers/services/patch-service.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type KubeObject, type Service, keyOf, splitKey } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { type AdoptionMark, adoptionMark, type Leader } from '../../ledger/identity/adoption-mark.ts'
import { ledgerMap, listOrphans, haltMemory } from '../../ledger/identity/ledger-map.ts'
import type { Witness } from '../../ledger/identity/witness.ts'
import { type Heartbeats, clusterHeartbeats } from '../../ledger/identity/heartbeats.ts'
import { rememberedProject } from '../../ledger/identity/project-plan.ts'
import { requestsInFlight } from '../../ledger/record/requests-in-flight.ts'
import { sights } from '../../lib/sights.ts'
import type { TimeLimit } from '../../lib/time-limit.ts'
import type { Claims } from '../../ledger/claim/claim.ts'
import type { Claim } from '../../ledger/claim/claim-spec.ts'
import { isStillWanted, ledgerWork } from '../../ledger/ledger.ts'
import { type AddressKey, type ElasticIP, claimKey, elasticIPs, recordName } from '../../ledger/record/elastic-ip.ts'
import { grantedCheck } from '../../ledger/claim/granted-address.ts'
import { type Limits, overLimit } from '../../ledger/claim/limits.ts'
import { turnover } from '../../ledger/claim/turnover.ts'
import { ownerMarks, serviceMarks } from '../../ledger/record/marks.ts'
import { records } from '../../ledger/record/records.ts'
import type { ReleaseResult } from '../../ledger/release/release.ts'
import { warmCandidates } from '../../ledger/available/claim-source.ts'
import { isAvailable, isWarm } from '../../ledger/record/source.ts'
import { type Sweep, sweep } from '../../ledger/sweep/sweep.ts'
import { usedAddresses } from '../../ledger/want/own-address-rules.ts'
import { type Want, want } from '../../ledger/want/want.ts'
import { planWarm, unusedFor } from '../../ledger/available/warm-plan.ts'
import { makePolicy } from '../builders.ts'
import { type ApiServer, apiServer } from '../fakes/api-server.ts'
import type { Policy } from '../../settings/service-policy.ts'
import { type Hooks, interposed } from '../fakes/interposed.ts'
import { silentLog } from '../fakes/log.ts'
import { type ScriptedCloud, scriptedCloud } from '../fakes/scripted-cloud.ts'

export const timeoutMs = 40_000
export const graceMs = 15 * 60_000
const sweepIntervalMs = 5 * 60_000
export const neverAborted = new AbortController().signal
export const scheme = { usage: 'cloud-provider-equinix-metal-auto', separator: '/', cluster: 'cluster-1' } as const

export type Process = {
  deps: Parameters<typeof ledgerWork>[0]
  claims: Claims
  mark: AdoptionMark
  heartbeats: Heartbeats
  client: KubeClient
  claim(claim?: Partial<Claim>, signal?: AbortSignal): ReturnType<Claims['claim']>
  /** Releases the stored record of a Service once, as the Service controller does. */
  release(key?: string): Promise<ReleaseResult | 'no record'>
  sweep: Sweep
  /** A run of the Service controller for one key. */
  reconcile(key: string): Promise<Outcome>
  /** A run of the controller of available addresses for one ElasticIP. */
  reconcileSource(name: string): Promise<Outcome>
  /** A run of the warm pool's controller. */
  fillPool(): Promise<Outcome>
  /** How far its clock is ahead of the clocks of other processes. */
  clock: { aheadMs: number }
}

/** The reach of a process by its key and settings: a project and its cloud. */
export type Account = { project: string; cloud: ScriptedCloud }

export type ProcessOptions = {
  kube?: Hooks
  cloud?: Hooks
  /** Another account than that of the ledger. */
  account?: Account | undefined
  timeLimit?: () => TimeLimit
  announcer?: Announcer
  /** Why the network may still learn an address; it may not unless a test gives a reason. */
  findAnnouncement?: (address: string) => Announcement | undefined
  limits?: Limits
  /** Receives the Events of the Service controller. */
  events?: string[]
  /** A person has confirmed that what the cloud no longer lists is gone. */
  confirmsLoss?: boolean
  /** Its sweeps release no orphan. */
  reportsOrphans?: boolean
  /** The size of the warm pool in each location. */
  warmPool?: number
  /** Where Services get their addresses. */
  locations?: string[]
  /** The operator's settings for Services, where it differs from that of other processes. */
  policy?: Partial<Policy>
}

export type Harness = {
  api: ApiServer
  cloud: ScriptedCloud
  /** A process as it starts: its releases wait until its first sweep has looked for another cluster with our id. */
  process(identity: string, options?: ProcessOptions): Process
  /** A process whose first sweep has found no other cluster, long ago. */
  alone(identity: string, options?: ProcessOptions): Process
  /** Moves every clock forward. */
  advance(ms: number): void
  now(): Date
  record(key?: string): ElasticIP | undefined
  /** The ids of the reservations that the cloud has for a Service. */
  reservationsOf(key?: string): string[]
  /** Writes the project of the ledger, as its first process would have. */
  setProject(): void
  /** Writes the adoption mark, as an earlier sweep would have. */
  setAdoptionMark(): void
  /** Reports of sweeps to the owners of Services. */
  warnings: string[]
  /** Another process leads, perhaps a predecessor; the harness' own ones lead as `leader`. */
  setLeader(name: string): void
  addService(service: Service): void
}

const requestAnnotations = [
  'metallb.io/loadBalancerIPs',
  'metallb.universe.tf/loadBalancerIPs',
  'kube-vip.io/loadbalancerIPs',
]
export const usualPolicy: Policy = { ...makePolicy({ metro: 'da' }), families: ['ipv4', 'ipv6'] }

export function makeHarness(marked: HarnessMarks = { scheme, sweepsUntagged: false }): Harness {
  let elapsedMs = 0
  let leader = { identity: 'leader', since: '1' }
  const warnings: string[] = []
  const now = () => new Date(Date.parse('2026-01-31T09:00:00Z') + elapsedMs)
  const api = apiServer({ now, invalid: brokenRule })
  const cloud = scriptedCloud(now)
  const context = { api, cloud, now, elapsedMs: () => elapsedMs, leader: () => leader, warnings, ...marked }
  return {
    api,
    cloud,
    now,
    process: (identity, options = {}) => makeProcess(context, identity, options),
    alone: (identity, options = {}) => makeProcess(context, identity, { ...options, isAlone: true }),
    advance: (ms) => void (elapsedMs += ms),
    record: (key = 'default/web') => {
      const { namespace, name } = splitKey(key)
      return api.stored(elasticIPs).find(({ metadata }) => metadata.name === `${namespace}.${name}`)
    },
    reservationsOf: (key = 'default/web') => cloud.reserved(serviceMarks(marked.scheme, key)).map(({ id }) => id),
    setProject: () => void api.put(configMapsOf, ledgerMapWith({ project })),
    setAdoptionMark: () => void api.put(configMapsOf, ledgerMapWith({ adopted: project, 'adopted-by': 'leader 1' })),
    warnings,
    setLeader: (identity) => void (leader = { identity, since: `${Number(leader.since) + 1}` }),
    addService: (service) => void api.put(services, service),
  }
}

const project = 'project-1'

/** How the API server refuses a create while it deletes the definition. */
export const terminating = new KubeError('create not allowed while custom resource definition is terminating', {
  status: 403,
  reason: 'Forbidden',
})

/** A cluster without kubelets, which prove nothing. */
export const noWitness: Witness = { find: () => Promise.resolve(undefined), serves: () => Promise.resolve(false) }

function ledgerMapWith(data: Record<string, string>): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'eip', name: 'ledger' }, data } as KubeObject
}

const configMapsOf = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true }

/** How reservations are marked, whether those without a cluster are swept, and what the operator set for Services. */
export type HarnessMarks = { scheme: MarkScheme; sweepsUntagged: boolean; policy?: Policy }

type Context = HarnessMarks & {
  api: ApiServer
  cloud: ScriptedCloud
  now: () => Date
  elapsedMs: () => number
  leader: () => Leader
  warnings: string[]
}

function makeProcess(context: Context, identity: string, options: ProcessOptions & { isAlone?: true }): Process {
  const { api, now, elapsedMs, scheme, sweepsUntagged, policy: common = usualPolicy } = context
  // No copy without need: a walk changes the common one while processes run.
  const policy = options.policy ? { ...common, ...options.policy } : common
  const wanted = (service: Service): Want => want(service, policy, undefined)
  const { announcer = empty(), findAnnouncement = () => undefined } = options
  const account = options.account ?? { project, cloud: context.cloud }
  const client = interposed(api.client, options.kube ?? {})
  const cloud: Cloud = interposed(account.cloud.cloud, options.cloud ?? {})
  const clock = { aheadMs: 0 }
  const at = { namespace: 'eip', name: 'ledger' }
  const halt = haltMemory({ cluster: scheme.cluster, at })
  const map = ledgerMap({ client, ...at, halt, monotonicMs: elapsedMs })
  const mark = adoptionMark({
    map,
    project: account.project,
    identity: 'leader',
    leader: () => Promise.resolve(context.leader()),
    monotonicMs: elapsedMs,
  })
  const ownNow = () => new Date(now().getTime() + clock.aheadMs)
  const heartbeats = clusterHeartbeats({
    cloud,
    scheme,
    log: silentLog,
    map,
    halt,
    intervalMs: sweepIntervalMs,
    successionMs: 60_000,
    monotonicMs: elapsedMs,
    event: (_map, { reason }) => void context.warnings.push(reason),
    witness: noWitness,
  })
  heartbeats.reset(0)
  const deps = {
    records: records(client, { identity, now: () => new Date(0) }),
    cloud,
    warmCandidates: warmCandidates(() =>
      api.stored(elasticIPs).filter((record) => isWarm(record) && isAvailable(record)),
    ),
    scheme,
    sweepsUntagged,
    identity,
    requestsInFlight: requestsInFlight({ timeoutMs, monotonicMs: elapsedMs, identity }),
    clusterState: () => (options.isAlone ? ({ kind: 'ours' } as const) : heartbeats.state()),
    haltReason: async (signal: AbortSignal) => {
      const stored = await map.recent(signal)
      const isOther = (rememberedProject(stored) ?? project) !== account.project
      return isOther ? 'another project' : halt.reason(stored)
    },
    possibleUsers: async (signal: AbortSignal) => ({
      services: (await client.list(services, { signal })).items,
      records: (await client.list(elasticIPs, { signal })).items,
      requestAnnotations,
    }),
    clusterNetwork: () => undefined,
    grantedProblem: grantedCheck({
      clusterNetwork: () => undefined,
      cached: { records: () => api.stored(elasticIPs), services: () => api.stored(services) },
      stored: {
        record: (name) => client.get(elasticIPs, { name }),
        service: ({ metadata: { namespace = '', name } }) => client.get(services, { namespace, name }),
      },
      reservation: (id, signal) => cloud.reservation(id, signal),
      want: wanted,
      monotonicMs: elapsedMs,
    }),
    isAdopted: (signal: AbortSignal, key?: AddressKey) =>
      mark.isSet(signal, key === undefined ? [] : ownerMarks(scheme, key)),
    overLimit: async (record: ElasticIP, signal: AbortSignal) =>
      options.limits && overLimit(record, (await client.list(elasticIPs, { signal })).items, options.limits),
    turnover: turnover({ limit: options.limits?.namespace, now: ownNow }),
    timeLimit: options.timeLimit ?? (() => ({ signal: neverAborted, isOver: () => false })),
    monotonicMs: elapsedMs,
    now: ownNow,
    log: silentLog,
    want: wanted,
    reclaimPolicy: policy.reclaimPolicy,
    loss: {
      isGiven: () => Promise.resolve(options.confirmsLoss === true),
      end: () => Promise.resolve(),
      warn: async () => void context.warnings.push('nothing is written off'),
    },
    isStillWanted: (record: ElasticIP, signal: AbortSignal) => isStillWanted({ client, want: wanted }, record, signal),
  }
  const ledger = ledgerWork(deps)
  const own = ledger.claims
  const seen = sights(elapsedMs)
  const cachedRecord = (key: string) => api.stored(elasticIPs).find(({ metadata }) => metadata.name === recordName(key))
  const reconciler = serviceAddress({
    client,
    cached: {
      service: (key) => api.stored(services).find((one) => keyOf(one) === key),
      record: cachedRecord,
      records: () => api.stored(elasticIPs),
    },
    getRecord: ledger.getRecord,
    want: wanted,
    announcer,
    requestAnnotations: policy.requestAnnotations,
    users: (address) => api.stored(services).filter((one) => usedAddresses(one, policy).includes(address)),
    policy,
    findAnnouncement: (address) => Promise.resolve(findAnnouncement(address)),
    claimWaits: own.waits,
    graceMs,
    sights: seen,
    carryOut: serviceSteps({
      client,
      announcer,
      requestAnnotations: policy.requestAnnotations,
      want: wanted,
      now: ownNow,
      ledger: { ...ledger, claims: own },
      release: ledger.releaseWith(undefined),
      onMissedByAdmission: () => {},
      event: (_service, { type, message }) => options.events?.push(`${type} ${message}`),
    }),
  })
  const sourceReconciler = availableAddress({
    getRecord: ledger.getRecord,
    claimantsOf: (name) =>
      api
        .stored(elasticIPs)
        .filter(({ spec }) => spec.source?.name === name)
        .map(({ metadata }) => metadata.name),
    carryOut: availableSteps(ledger),
    check: ledger.provisionedCheck({ everyMs: 300_000, monotonicMs: elapsedMs }).check,
  })
  const poolReconciler = warmPool({
    plan: () => {
      const { warmPool: size = 0, locations = ['da'] } = options
      const used = new Set(locations)
      const unusedForMs = unusedFor(seen, used)
      return planWarm({ records: api.stored(elasticIPs), locations: used, size, unusedForMs, graceMs })
    },
    ledger,
    report: () => {},
  })
  return {
    deps,
    claims: own,
    mark,
    heartbeats,
    client,
    clock,
    claim: (claim = {}, signal = neverAborted) => {
      const {
        key = 'default/web',
        uid,
        elasticIP,
        location = 'da',
        reclaim = 'Delete',
        family = 'ipv4',
        isShown = false,
        wait = false,
      } = claim
      const stated = claim.isReclaimStated && ({ isReclaimStated: true } as const)
      const spec = elasticIP ? { elasticIP } : { location, reclaim, ...stated }
      return own.claim({ ...spec, family, key, uid, isShown, wait }, signal)
    },
    reconcileSource: (name) => sourceReconciler.reconcile(name, neverAborted),
    fillPool: () => poolReconciler.reconcile(warmPoolKey, neverAborted),
    async release(key = 'default/web') {
      const record = await deps.records.get(key)
      return record ? ledger.releaseWith(undefined)({ record }, neverAborted) : 'no record'
    },
    reconcile: (key) => reconciler.reconcile(key, neverAborted),
    sweep: sweep({
      ...deps,
      listOrphans: listOrphans.bind(undefined, map),
      mark,
      heartbeats,
      listRecords: () => api.stored(elasticIPs),
      listServices: () => api.stored(services).map((service) => ({ service, wanted: wanted(service) })),
      removeAddress: (service) => patch(client, service, { spec: { loadBalancerIP: null } }),
      requestAnnotations,
      reclaimPolicy: policy.reclaimPolicy,
      graceMs,
      monotonicMs: elapsedMs,
      mode: options.reportsOrphans ? 'report' : 'release',
      observe: () => {},
      warn: (service, _reason, message) => void context.warnings.push(`${keyOf(service)}: ${message}`),
    }),
  }
}

/** The rules of the CRD that the ledger could break. */
function brokenRule(before: KubeObject | undefined, after: KubeObject): string | undefined {
  if (after.kind !== 'ElasticIP') return undefined
  const [stored, next] = [before as ElasticIP | undefined, after as ElasticIP]
  if (stored?.status?.reservationID !== undefined && (stored.spec.location ?? '') !== (next.spec.location ?? ''))
    return 'location is fixed once the address is reserved'
  if (stored?.status?.address !== undefined && stored.spec.ipFamily !== next.spec.ipFamily)
    return 'ipFamily is fixed once the address is known'
  const [was, is] = [stored?.status ?? {}, next.status ?? {}]
  const isOther = ![undefined, is.reservationID].includes(was.reservationID) || was.address !== is.address
  if (was.address !== undefined && is.address !== undefined && isOther)
    return 'address and reservationID are fixed once the address is known'
  const { claimRef, location, reservationID, source } = next.spec
  if (stored && claimRef && ![undefined, claimKey(next)].includes(claimKey(stored)))
    return 'an ElasticIP cannot change its Service'
  const { name } = next.metadata
  const ofService = `${claimRef?.namespace}.${claimRef?.name}.`
  if (/^[^.]+[.][^.]+([.]ipv[46])?$/.test(name) && !`${name}.`.startsWith(ofService))
    return 'the name is that of a Service'
  return [location, reservationID, source].some((value) => value !== undefined)
    ? undefined
    : 'neither location nor reservationID'
}
