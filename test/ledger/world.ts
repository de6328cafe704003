// One cluster and one project, and as many processes of ours in front of them as a test wants.
import type { Announcer } from '../../announcers/announcer.ts'
import { empty } from '../../announcers/empty.ts'
import type { Cloud } from '../../clouds/cloud.ts'
import type { Hold } from '../../controllers/announcing.ts'
import type { Outcome } from '../../controllers/reconciler.ts'
import { serviceAddress } from '../../controllers/service-address.ts'
import { serviceSteps } from '../../controllers/service-steps.ts'
import { stockAddress } from '../../controllers/stock-address.ts'
import { stockSteps } from '../../controllers/stock-steps.ts'
import { warmPool, warmPoolKey } from '../../controllers/warm-pool.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { KubeObject, Service } from '../../kube/objects.ts'
import { keyOf, splitKey } from '../../kube/objects.ts'
import { services } from '../../kube/resource.ts'
import { type AdoptionMark, adoptionMark } from '../../ledger/adoption.ts'
import { asking } from '../../ledger/asking.ts'
import type { Budget } from '../../ledger/budget.ts'
import { type Claim, type ClaimParts, type Claims, claims } from '../../ledger/claim.ts'
import { bind, setReclaim } from '../../ledger/bind.ts'
import { type ElasticIP, elasticIPs, recordName } from '../../ledger/elastic-ip.ts'
import { inspector } from '../../ledger/inspect.ts'
import { type Limits, overLimit } from '../../ledger/limits.ts'
import { serviceMarks } from '../../ledger/marks.ts'
import { records } from '../../ledger/records.ts'
import { type ReleaseParts, type Released, release, retain } from '../../ledger/release.ts'
import { shelf } from '../../ledger/shelf.ts'
import { isFree, isWarm } from '../../ledger/stock.ts'
import { type Sweep, sweep } from '../../ledger/sweep.ts'
import { type Want, isWanted, want } from '../../ledger/want.ts'
import { addWarm } from '../../ledger/warm.ts'
import { planWarm } from '../../ledger/warm-plan.ts'
import { makePolicy } from '../builders.ts'
import { type ApiServer, apiServer } from '../fakes/api-server.ts'
import { type Hooks, interposed } from '../fakes/interposed.ts'
import { silentLog } from '../fakes/log.ts'
import { type ScriptedCloud, scriptedCloud } from '../fakes/scripted-cloud.ts'

export const timeoutMs = 40_000
export const graceMs = 15 * 60_000
export const neverAborted = new AbortController().signal
export const scheme = { usage: 'cloud-provider-equinix-metal-auto', separator: '/', cluster: 'cluster-1' } as const

export type Process = {
  parts: ClaimParts & ReleaseParts
  claims: Claims
  mark: AdoptionMark
  client: KubeClient
  claim(claim?: Partial<Claim>, signal?: AbortSignal): ReturnType<Claims['claim']>
  /** Looks once, as the Service controller does, at the record as it is stored. */
  release(key?: string): Promise<Released['outcome'] | 'no record'>
  sweep: Sweep
  /** The Service controller's look at one key. */
  reconcile(key: string): Promise<Outcome>
  /** The stock controller's look at one ElasticIP. */
  tend(name: string): Promise<Outcome>
  /** The warm pool's look at all. */
  fill(): Promise<Outcome>
  /** Its own clock: what it is told to be ahead of the others'. */
  clock: { aheadMs: number }
}

export type ProcessOptions = {
  kube?: Hooks
  sky?: Hooks
  budget?: () => Budget
  announcer?: Announcer
  /** Who keeps an address in the network; nobody unless a test says so. */
  holds?: (address: string) => Hold | undefined
  limits?: Limits
  /** How many addresses wait in da. */
  warmPool?: number
}

export type World = {
  api: ApiServer
  sky: ScriptedCloud
  process(identity: string, options?: ProcessOptions): Process
  /** Lets time pass on every clock. */
  pass(ms: number): void
  now(): Date
  record(key?: string): ElasticIP | undefined
  /** What is reserved in truth for a Service. */
  held(key?: string): string[]
  /** Leaves the mark that an earlier sweep would have left. */
  adopted(): void
  addService(service: Service): void
}

const policy = makePolicy({ metro: 'da' })
const wanted = (service: Service): Want => want(service, policy, undefined)

export function makeWorld(): World {
  let elapsedMs = 0
  const now = () => new Date(Date.parse('2026-01-31T09:00:00Z') + elapsedMs)
  const api = apiServer({ now, invalid: brokenRule })
  const sky = scriptedCloud(now)
  return {
    api,
    sky,
    now,
    process: (identity, options = {}) => makeProcess({ api, sky, now, elapsedMs: () => elapsedMs }, identity, options),
    pass: (ms) => void (elapsedMs += ms),
    record: (key = 'default/web') => {
      const { namespace, name } = splitKey(key)
      return api.stored(elasticIPs).find(({ metadata }) => metadata.name === `${namespace}.${name}`)
    },
    held: (key = 'default/web') => sky.reserved(serviceMarks(scheme, key)).map(({ id }) => id),
    adopted: () =>
      void api.put(configMapsOf, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { namespace: 'eip', name: 'ledger' },
        data: { adopted: 'project-1' },
      } as KubeObject),
    addService: (service) => void api.put(services, service),
  }
}

const configMapsOf = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true }

type Ground = { api: ApiServer; sky: ScriptedCloud; now: () => Date; elapsedMs: () => number }

function makeProcess({ api, sky, now, elapsedMs }: Ground, identity: string, options: ProcessOptions): Process {
  const { announcer = empty(), holds = () => undefined } = options
  const client = interposed(api.client, options.kube ?? {})
  const cloud: Cloud = interposed(sky.cloud, options.sky ?? {})
  const clock = { aheadMs: 0 }
  const mark = adoptionMark({ client, namespace: 'eip', name: 'ledger', project: 'project-1' })
  const ownNow = () => new Date(now().getTime() + clock.aheadMs)
  const parts = {
    records: records(client),
    cloud,
    shelf: shelf(() => api.stored(elasticIPs).filter((record) => isWarm(record) && isFree(record))),
    scheme,
    identity,
    asking: asking({ timeoutMs, monotonicMs: elapsedMs }),
    adopted: (signal: AbortSignal) => mark.isSet(signal),
    overLimit: async (record: ElasticIP, signal: AbortSignal) =>
      options.limits && overLimit(record, (await client.list(elasticIPs, { signal })).items, options.limits),
    budget: options.budget ?? (() => ({ signal: neverAborted, isSpent: () => false })),
    now: ownNow,
    log: silentLog,
    stillWanted: async (record: ElasticIP, signal: AbortSignal) => {
      const { claimRef } = record.spec
      const service = claimRef && (await client.get(services, claimRef, { signal }))
      return service !== undefined && !service.metadata.deletionTimestamp && isWanted(record, wanted(service))
    },
  }
  const own = claims(parts)
  const cachedRecord = (key: string) => api.stored(elasticIPs).find(({ metadata }) => metadata.name === recordName(key))
  const reconciler = serviceAddress({
    client,
    cached: { service: (key) => api.stored(services).find((one) => keyOf(one) === key), record: cachedRecord },
    getRecord: (key, signal) => parts.records.get(key, { signal }),
    want: wanted,
    announcer,
    asking: policy.asking,
    holds: (address) => Promise.resolve(holds(address)),
    graceMs,
    now: ownNow,
    carryOut: serviceSteps({
      client,
      announcer,
      asking: policy.asking,
      now: ownNow,
      claim: (claim, signal) => own.claim(claim, signal),
      bind: (record, uid) => bind(parts, record, uid),
      setReclaim: (record, reclaim) => setReclaim(parts, record, reclaim),
      release: (record, signal) => release(parts, record, signal),
      retain: (record) => retain(parts, record),
      event: () => {},
    }),
  })
  const tender = stockAddress({
    getRecord: (name, signal) => parts.records.get(name, { signal }),
    takerOf: (name) => api.stored(elasticIPs).find(({ spec }) => spec.from?.name === name)?.metadata.name,
    carryOut: stockSteps(parts),
    check: inspector(parts, { everyMs: 300_000, monotonicMs: elapsedMs }),
  })
  const filler = warmPool({
    plan: () => {
      const { warmPool: size = 0 } = options
      return planWarm({ records: api.stored(elasticIPs), locations: new Set(['da']), size, now: ownNow(), graceMs })
    },
    add: (one, signal) => addWarm(parts, one, signal),
    release: (lot) => parts.records.writeStatus(lot, { phase: 'Releasing' }),
    tell: () => {},
    intervalMs: 300_000,
  })
  return {
    parts,
    claims: own,
    mark,
    client,
    clock,
    claim: (claim = {}, signal = neverAborted) => {
      const {
        key = 'default/web',
        elasticIP,
        location = 'da',
        reclaim = 'Delete',
        isShown = false,
        wait = false,
      } = claim
      return own.claim({ ...(elasticIP ? { elasticIP } : { location, reclaim }), key, isShown, wait }, signal)
    },
    tend: (name) => tender.reconcile(name, neverAborted),
    fill: () => filler.reconcile(warmPoolKey, neverAborted),
    async release(key = 'default/web') {
      const record = await parts.records.get(key)
      return record ? (await release(parts, record, neverAborted)).outcome : 'no record'
    },
    reconcile: (key) => reconciler.reconcile(key, neverAborted),
    sweep: sweep({
      ...parts,
      mark,
      listRecords: () => api.stored(elasticIPs),
      listServices: () => api.stored(services).map((service) => ({ service, wanted: wanted(service) })),
      graceMs,
      mode: 'release',
    }),
  }
}

/** The rules of the CRD that the ledger could break. */
function brokenRule(before: KubeObject | undefined, after: KubeObject): string | undefined {
  if (after.kind !== 'ElasticIP') return undefined
  const [was, is] = [before as ElasticIP | undefined, after as ElasticIP]
  if (was?.status?.reservationID !== undefined && (was.spec.location ?? '') !== (is.spec.location ?? ''))
    return 'location is fixed once the address is reserved'
  const { claimRef, location, reservationID, from } = is.spec
  const { name } = is.metadata
  if (/^[^.]+[.][^.]+$/.test(name) && name !== `${claimRef?.namespace}.${claimRef?.name}`)
    return 'the name is that of a Service'
  return [location, reservationID, from].some((said) => said !== undefined)
    ? undefined
    : 'neither location nor reservationID'
}
