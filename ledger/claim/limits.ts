// The limits of claims: the addresses that there may be, the Services that are not stored yet, and the quotas of
// namespaces.
import {
  type AddressKey,
  addressKeyOf,
  claimKey,
  type ElasticIP,
  familyOf,
  isSecond,
  phaseOf,
  isUnwritten,
  reservationIdOf,
  serviceOfAddress,
} from '../record/elastic-ip.ts'
import { familyNames } from '../../lib/ip-address.ts'
import { type ResourceQuota, type Service, splitKey } from '../../kube/objects.ts'
import { busy, type Claim, type ClaimResult } from './claim-spec.ts'
import { counted } from '../../lib/text.ts'

/** How many addresses there may be; undefined is no limit. */
export type Limits = { cluster: number | undefined; namespace: number | undefined }

/** Why a record exceeds a limit, as its user is to read it; undefined where it exceeds none. */
export type LimitCheck = (record: ElasticIP, signal: AbortSignal) => Promise<string | undefined>

/** How many holders a refusal names: enough to know whom to ask. */
const maxNamed = 10

/**
 * Why a record exceeds a limit, among all records that exist; it may be among them already. Each claim writes its
 * record before it counts. So of claims that race for the last place none passes wrongly: the last to write sees all
 * others.
 */
export function overLimit(record: ElasticIP, all: readonly ElasticIP[], limits: Limits): string | undefined {
  const others = otherAddresses(record, all).filter((other) => !isCountedLater(other, record))
  // A second address always has a first: in a preview neither has a record.
  const first = isSecond(record) && !others.some((other) => isFirstOf(other, record)) ? 1 : 0
  const namespace = record.spec.claimRef?.namespace
  const neighbours = others.filter(({ spec }) => spec.claimRef?.namespace === namespace)
  const namespaceLimit = namespace === undefined ? undefined : limits.namespace
  return (
    limitReason(
      { where: `in namespace ${namespace}`, flag: '--max-addresses-per-namespace' },
      { holders: neighbours, more: first },
      namespaceLimit,
    ) ??
    // A tenant reads this, and learns nothing of other namespaces.
    limitReason(
      { where: 'in the cluster', flag: '--max-addresses' },
      { holders: others, more: first, named: namespace === undefined ? others : neighbours },
      limits.cluster,
    )
  )
}

/** A record for each address besides the record's own. */
function otherAddresses(record: ElasticIP, all: readonly ElasticIP[]): ElasticIP[] {
  const own = [record.metadata.name, record.spec.source?.name]
  return countedAddresses([record, ...all]).filter((one) => one !== record && !own.includes(one.metadata.name))
}

/**
 * A record for each address. A claimed available address counts with its Service's record, not with its source; a
 * deleted reservation does not count, however long the cloud takes.
 */
export function countedAddresses(all: readonly ElasticIP[]): ElasticIP[] {
  const uids = new Set(all.map(({ metadata }) => metadata.uid))
  return all.filter(
    ({ spec, status }) =>
      status?.deletionRequestedAt === undefined &&
      (spec.claimRef?.elasticIPUID === undefined || !uids.has(spec.claimRef.elasticIPUID)),
  )
}

/**
 * Whether another record counts this one, so that this one need not count it. A new record counts all. A record that
 * waited for its answer may never have counted; it counts records that have a reservation or are older than itself. The
 * first record of a Service does not count the second, which is written after it and counts it: one of them may have
 * room.
 */
function isCountedLater(other: ElasticIP, record: ElasticIP): boolean {
  const isNew = isUnwritten(record)
  if (reservationIdOf(other) !== undefined || (isNew && !isFirstOf(record, other))) return false
  const ageOrder = ({ metadata }: ElasticIP) => `${metadata.creationTimestamp} ${metadata.name}`
  return ageOrder(other) > ageOrder(record)
}

/** Whether two records hold the first and the second address of one Service. */
function isFirstOf(first: ElasticIP, second: ElasticIP): boolean {
  return isSecond(second) && addressKeyOf(first) === claimKey(second)
}

function limitReason(
  { where, flag }: { where: string; flag: string },
  { holders, more, named = holders }: { holders: ElasticIP[]; more: number; named?: ElasticIP[] },
  limit: number | undefined,
): string | undefined {
  if (limit === undefined || holders.length + more < limit) return undefined
  const names = named.slice(0, maxNamed).map(holderName)
  const rest = named.length > names.length ? ` and ${named.length - names.length} more` : ''
  const share = named.length < holders.length ? `${named.length} of them` : 'they'
  const holdersText = named.length > 0 ? `; ${share} are held by ${names.join(', ')}${rest}` : ''
  return `the limit of ${counted(limit, 'addresses')} ${where} is reached (${flag})${holdersText}`
}

function holderName(record: ElasticIP): string {
  const service = claimKey(record)
  const family = isSecond(record) ? ` (${familyNames[familyOf(record)]})` : ''
  const name = service === undefined ? `ElasticIP ${record.metadata.name}` : `${service}${family}`
  const phase = phaseOf(record)
  return phase === 'Bound' ? name : `${name} (${phase})`
}

type ClaimAddress = (claim: Claim, signal: AbortSignal) => Promise<ClaimResult>

/** The claim of a Service that is not stored yet, with what it uses of its namespace's quotas once it is. */
export type UnboundClaim = Claim & { quotaUse: QuotaUse }

type ClaimUnbound = (claim: UnboundClaim, signal: AbortSignal) => Promise<ClaimResult>

export type UnboundLimitOptions = {
  claim: ClaimAddress
  /** The addresses that are requested or reserved, and whose Service no controller has seen stored. */
  unbound: () => AddressKey[]
  max: number
  /** The ResourceQuotas of a namespace, read live. */
  quotas: (namespace: string, signal: AbortSignal) => Promise<readonly ResourceQuota[]>
  /** Reads what the claim will ask first. It never fails: the claim asks again. */
  readAhead: (signal: AbortSignal) => Promise<void>
}

/** The part of the maximum that one namespace may use, so that no tenant takes admission from all others. */
const namespaceShare = 1 / 4

/**
 * Limits claims for Services that may never be stored. Else a client could buy addresses without end: it only sends
 * reviews, or a quota refuses its Services after us. Beyond a limit the claim is pending, and the controller completes
 * it: it sees only stored Services.
 *
 * The waiting Services are read before the quotas: a Service that is stored in between counts twice, never not at all.
 * Nothing else here follows from another read, so a new Service costs two round trips before the cloud is asked. The
 * first one reads everything. The second one creates the record: an earlier record would have to be deleted again if a
 * quota refuses.
 */
export function limitUnbound({ claim, unbound, max, quotas, readAhead }: UnboundLimitOptions): ClaimUnbound {
  /** In the order in which they began. */
  const running = new Set<AddressKey>()
  return async ({ quotaUse, ...wanted }, signal) => {
    const { key } = wanted
    const earlier = new Set([...unbound(), ...running].filter((other) => other !== key))
    const { namespace } = splitKey(key)
    const neighbours = [...earlier].filter((other) => splitKey(other).namespace === namespace)
    const reason = unboundReason({ all: earlier.size, waiting: neighbours.length, max, namespace })
    if (reason !== undefined) return { kind: 'pending', reason }
    running.add(key)
    try {
      const isCounted = Object.keys(quotaUse).length > 0
      const [limiting] = await Promise.all([isCounted ? quotas(namespace, signal) : [], readAhead(signal)])
      const services = new Set(neighbours.map(serviceOfAddress)).difference(new Set([serviceOfAddress(key)])).size
      const refusal = quotaReason(limiting, quotaUse, services)
      // The time of the review is over, and a claim that begins now could not be answered.
      if (signal.aborted) return busy
      return refusal === undefined ? await claim(wanted, signal) : { kind: 'pending', reason: refusal }
    } finally {
      running.delete(key)
    }
  }
}

function unboundReason(of: { all: number; waiting: number; max: number; namespace: string }): string | undefined {
  const { all, waiting, max, namespace } = of
  const share = Math.max(1, Math.floor(max * namespaceShare))
  if (all >= max) return `${max} addresses are waiting for their Services (--max-unbound)`
  if (waiting < share) return undefined
  return `${share} addresses in namespace ${namespace} are waiting for their Services (a quarter of --max-unbound)`
}

/** How much of each resource of a ResourceQuota a request uses, by the API server's rules. */
export type QuotaUse = Readonly<Record<string, number>>

/** The quota that the API server charges when a LoadBalancer Service is created, or when another type becomes one. */
export function quotaUse({ spec }: Service, old: Service | null): QuotaUse {
  if (old?.spec.type === 'LoadBalancer') return {}
  const ports = spec.ports ?? []
  // Without automatic node ports only those count that the user wrote.
  const nodePorts = spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort) : ports
  const withNodePorts = old?.spec.type === 'NodePort' ? 0 : nodePorts.length
  const ofType = { 'services.loadbalancers': 1, 'services.nodeports': withNodePorts }
  return old ? ofType : { ...ofType, services: 1, 'count/services': 1 }
}

/**
 * Why a ResourceQuota will refuse a Service a moment after us: then an address would be bought for no Service. `waiting`
 * are admitted Services of the namespace that no quota counts yet. Undefined if none will, or if a quota cannot be
 * judged: the API server decides then.
 */
export function quotaReason(quotas: readonly ResourceQuota[], use: QuotaUse, waiting: number): string | undefined {
  for (const { metadata, status } of quotas) {
    for (const [resource, amount] of Object.entries(use)) {
      const [hard = '', used = ''] = [status?.hard?.[resource], status?.used?.[resource]]
      // Comparisons with NaN are false.
      if (amount === 0 || !(amountOf(used) + amount * (waiting + 1) > amountOf(hard))) continue
      const others = waiting > 0 ? `, and ${waiting} more Services wait for their addresses` : ''
      return `ResourceQuota ${metadata.name} limits ${resource} to ${hard}, of which ${used} are used${others}`
    }
  }
  return undefined
}

/** The number that a quantity of Kubernetes means, as far as people write such for Services; else NaN. */
function amountOf(quantity: string): number {
  const [, digits = '', suffix = ''] = /^(\d+)(k?)$/.exec(quantity) ?? []
  return digits === '' ? NaN : Number(digits) * (suffix === 'k' ? 1000 : 1)
}
