import type { IpFamily } from '../../lib/ip-address.ts'
import { type Labels, matchesSelector } from '../../lib/label-selector.ts'
import type { BGPAdvertisement } from './resources.ts'

/** The facts about a pool that decide which advertisements select it, and what they may set. */
export type PoolFacts = { name: string; labels: Record<string, string>; family: IpFamily }

/** Whether an advertisement selects a pool; without any selector it selects all. */
export function isForPool({ spec = {} }: BGPAdvertisement, { name, labels }: PoolFacts): boolean {
  const { ipAddressPools = [], ipAddressPoolSelectors = [] } = spec
  if (ipAddressPools.length === 0 && ipAddressPoolSelectors.length === 0) return true
  return ipAddressPools.includes(name) || ipAddressPoolSelectors.some((selector) => matchesSelector(labels, selector))
}

/** Whether an advertisement gives the route of a single-address pool other attributes than ours does. */
export function hasOtherAttributes({ spec = {} }: BGPAdvertisement, pool: PoolFacts): boolean {
  return attributesOf(spec) !== attributesOf({}) && !selectsServices(spec) && isUnaggregated(spec, pool)
}

/** The advertisements because of which MetalLB would refuse a single-address pool: one aggregates, or two disagree. */
export function conflictingAdvertisements(
  advertisements: readonly BGPAdvertisement[],
  pool: PoolFacts,
): BGPAdvertisement[] {
  const own = advertisements.filter((one) => isForPool(one, pool))
  const rollUp = own.filter(({ spec = {} }) => !isUnaggregated(spec, pool))
  const plain = own.filter(({ spec = {} }) => !selectsServices(spec) && !spec.nodeSelectors?.length)
  const disagreeing = plain.filter((one) => plain.some((other) => isInConflict(one, other)))
  return rollUp.length > 0 ? rollUp : disagreeing
}

/**
 * The advertisements because of which speakers announce a Service of a pool to no peer: two disagree, and at least one
 * selects Services. MetalLB accepts them, because it compares them only for each Service.
 */
export function silencingAdvertisements(
  advertisements: readonly BGPAdvertisement[],
  pool: PoolFacts,
  labels: Labels | undefined,
): BGPAdvertisement[] {
  const own = advertisements.filter((one) => isForPool(one, pool) && isForService(one, labels))
  return own.filter((one) =>
    own.some((other) => {
      const both = [one.spec ?? {}, other.spec ?? {}]
      // The nodes are unknown here. A person who selects nodes in both probably means different ones.
      const isApart = both.every(({ nodeSelectors = [] }) => nodeSelectors.length > 0)
      return !isApart && both.some(selectsServices) && isInConflict(one, other)
    }),
  )
}

/**
 * The advertisements that replace ours for a pool, but announce it only to some peers or from some nodes. None if they
 * reach all of `peers` together, or if one has the label by which a person says that it replaces ours.
 */
export function narrowAdvertisements(
  advertisements: readonly BGPAdvertisement[],
  pool: PoolFacts,
  { label, peers }: { label: { name: string; value: string }; peers: readonly string[] },
): BGPAdvertisement[] {
  const own = advertisements.filter((one) => isForPool(one, pool))
  const reached = own
    .filter(({ spec = {} }) => !spec.nodeSelectors?.length && !selectsServices(spec))
    .map(({ spec = {} }) => spec.peers ?? [])
  const isToEach = peers.length > 0 && peers.every((name) => reached.some((names) => names.includes(name)))
  const isReplaced = own.some(({ metadata }) => metadata.labels?.[label.name] === label.value)
  const isEnough = isToEach || isReplaced || reached.some((names) => names.length === 0)
  return isEnough ? [] : own.filter((one) => hasOtherAttributes(one, pool))
}

type Spec = NonNullable<BGPAdvertisement['spec']>

/** Whether an advertisement is only for some Services of its pools. */
export function selectsServices({ serviceSelectors = [] }: Spec): boolean {
  return serviceSelectors.length > 0
}

function isForService({ spec = {} }: BGPAdvertisement, labels: Labels | undefined): boolean {
  const { serviceSelectors = [] } = spec
  return !selectsServices(spec) || serviceSelectors.some((selector) => matchesSelector(labels, selector))
}

function isUnaggregated({ aggregationLength = 32, aggregationLengthV6 = 128 }: Spec, { family }: PoolFacts): boolean {
  return family === 'ipv4' ? aggregationLength === 32 : aggregationLengthV6 === 128
}

/**
 * The attributes in which no two advertisements of one route to one peer may differ in MetalLB; the AS path only from
 * 0.16.2 on.
 */
function attributesOf({ localPref = 0, asPathPrepend = 0 }: Spec): string {
  return `${localPref} ${asPathPrepend}`
}

/** Whether two advertisements give one route to one peer different attributes. */
function isInConflict({ spec: one = {} }: BGPAdvertisement, { spec: other = {} }: BGPAdvertisement): boolean {
  const { peers = [] } = one
  const isApart = peers.length > 0 && other.peers?.length && !peers.some((peer) => other.peers?.includes(peer))
  return !isApart && attributesOf(one) !== attributesOf(other)
}
