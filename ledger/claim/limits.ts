// The limits of claims: the number of addresses, the Services that are not stored yet, the quotas of namespaces, and the
// turnover.
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

/** The maximum number of addresses; undefined is no limit. */
export type Limits = { cluster: number | undefined; namespace: number | undefined }

/** Why a record exceeds a limit, worded for its user; undefined if it exceeds none. */
export type LimitCheck = (record: ElasticIP, signal: AbortSignal) => Promise<string | undefined>

/** How many holders a refusal names, so that its reader knows whom to ask. */
const maxNamed = 10

/**
 * Why a record exceeds a limit among all existing records, perhaps including itself. Each claim writes its record
 * before it counts. So a race for the last place never exceeds the limit: the last writer sees all others.
 */
export function overLimit(record: ElasticIP, all: readonly ElasticIP[], limits: Limits): string | undefined {
  const others = otherAddresses(record, all).filter((other) => !isCountedLater(other, record))
  // A second address always has a first one, but in a preview neither has a record.
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
    // A tenant reads this, and must learn nothing about other namespaces.
    limitReason(
      { where: 'in the cluster', flag: '--max-addresses' },
      { holders: others, more: first, named: namespace === undefined ? others : neighbours },
      limits.cluster,
    )
  )
}

/** All addresses but the record's own, each as one record. */
function otherAddresses(record: ElasticIP, all: readonly ElasticIP[]): ElasticIP[] {
  const own = [record.metadata.name, record.spec.source?.name]
  return countedAddresses([record, ...all]).filter((one) => one !== record && !own.includes(one.metadata.name))
}

/**
 * The records that count, one for each address. A claimed available address counts with its Service's record, not with
 * its source. A reservation does not count once its deletion was requested, however long the provider takes.
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
 * Whether another record counts this one, so that this one need not count it. A new record counts all others. A record
 * that waited may never have counted; it counts records that are older or have a reservation. A Service's second record
 * is written after the first one and counts it, not vice versa. So the first may still have room.
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

/** The claim of a Service that is not stored yet, with the share of its namespace's quotas that it will use. */
export type UnboundClaim = Claim & { quotaUse: QuotaUse }

type ClaimUnbound = (claim: UnboundClaim, signal: AbortSignal) => Promise<ClaimResult>

export type UnboundLimitOptions = {
  claim: ClaimAddress
  /** The addresses that are requested or reserved for Services that no controller has seen stored. */
  unbound: () => AddressKey[]
  max: number
  /** The ResourceQuotas of a namespace, read live. */
  quotas: (namespace: string, signal: AbortSignal) => Promise<readonly ResourceQuota[]>
  /** Prefetches what the claim reads first. It never fails: the claim reads again. */
  readAhead: (signal: AbortSignal) => Promise<void>
}

/** The share of the maximum that one namespace may use, so that no tenant blocks admission for all others. */
const namespaceShare = 1 / 4

/**
 * Limits claims for Services that may never be stored. Otherwise a client could buy addresses without end, by sending
 * only reviews, or Services that a quota refuses after us. Beyond a limit the claim is pending, and the controller,
 * which sees only stored Services, completes it.
 *
 * The waiting Services are read before the quotas: a Service that is stored in between counts twice rather than not at
 * all. No other read here depends on another. So a new Service costs two round trips before the call to the provider.
 * The first reads everything, the second creates the record; a record created earlier would have to be deleted if a
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
      // The review has timed out, so no caller would read the answer of a claim that begins now.
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

/** The quota that the API server charges when a LoadBalancer Service is created, or a Service becomes one. */
export function quotaUse({ spec }: Service, old: Service | null): QuotaUse {
  if (old?.spec.type === 'LoadBalancer') return {}
  const ports = spec.ports ?? []
  // Without automatic node ports, only those that the user wrote count.
  const nodePorts = spec.allocateLoadBalancerNodePorts === false ? ports.filter(({ nodePort }) => nodePort) : ports
  const withNodePorts = old?.spec.type === 'NodePort' ? 0 : nodePorts.length
  const ofType = { 'services.loadbalancers': 1, 'services.nodeports': withNodePorts }
  return old ? ofType : { ...ofType, services: 1, 'count/services': 1 }
}

/**
 * Why a ResourceQuota will refuse a Service right after us, which would leave a bought address without a Service.
 * `waiting` are admitted Services of the namespace that no quota counts yet. Undefined if no quota will refuse, or one
 * cannot be judged: the API server decides then.
 */
export function quotaReason(quotas: readonly ResourceQuota[], use: QuotaUse, waiting: number): string | undefined {
  for (const { metadata, status } of quotas) {
    for (const [resource, amount] of Object.entries(use)) {
      const [hard = '', used = ''] = [status?.hard?.[resource], status?.used?.[resource]]
      // Comparisons with NaN are false, so an unreadable quantity refuses nothing.
      if (amount === 0 || !(amountOf(used) + amount * (waiting + 1) > amountOf(hard))) continue
      const others = waiting > 0 ? `, and ${waiting} more Services wait for their addresses` : ''
      return `ResourceQuota ${metadata.name} limits ${resource} to ${hard}, of which ${used} are used${others}`
    }
  }
  return undefined
}

/** The number that a Kubernetes quantity stands for, in the forms that people use for Services; else NaN. */
function amountOf(quantity: string): number {
  const [, digits = '', suffix = ''] = /^(\d+)(k?)$/.exec(quantity) ?? []
  return digits === '' ? NaN : Number(digits) * (suffix === 'k' ? 1000 : 1)
}
