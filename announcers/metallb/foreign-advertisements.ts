import type { IpFamily } from '../../lib/ip-address.ts'
import { matchesSelector } from '../../lib/label-selector.ts'
import type { BGPAdvertisement } from './resources.ts'

/** What of a pool decides which advertisements are for it, and what they may say. */
export type PoolFacts = { name: string; labels: Record<string, string>; family: IpFamily }

/** Whether an advertisement is for a pool: without any selection it is for all. */
export function isFor({ spec = {} }: BGPAdvertisement, { name, labels }: PoolFacts): boolean {
  const { ipAddressPools = [], ipAddressPoolSelectors = [] } = spec
  if (ipAddressPools.length === 0 && ipAddressPoolSelectors.length === 0) return true
  return ipAddressPools.includes(name) || ipAddressPoolSelectors.some((selector) => matchesSelector(labels, selector))
}

/** Whether an advertisement gives the route of a pool of one address another local preference than ours, the default. */
export function prefersOtherwise({ spec = {} }: BGPAdvertisement, pool: PoolFacts): boolean {
  const { localPref = 0, serviceSelectors = [] } = spec
  return localPref !== 0 && serviceSelectors.length === 0 && isWhole(spec, pool)
}

/** Those for which MetalLB would refuse a pool of one address: one that rolls up, or two that disagree. */
export function spoilers(advertisements: readonly BGPAdvertisement[], pool: PoolFacts): BGPAdvertisement[] {
  const own = advertisements.filter((one) => isFor(one, pool))
  const rollUp = own.filter(({ spec = {} }) => !isWhole(spec, pool))
  const plain = own.filter(({ spec = {} }) => !spec.serviceSelectors?.length && !spec.nodeSelectors?.length)
  const disagreeing = plain.filter((one) => plain.some((other) => disagree(one, other)))
  return rollUp.length > 0 ? rollUp : disagreeing
}

type Spec = NonNullable<BGPAdvertisement['spec']>

function isWhole({ aggregationLength = 32, aggregationLengthV6 = 128 }: Spec, { family }: PoolFacts): boolean {
  return family === 'ipv4' ? aggregationLength === 32 : aggregationLengthV6 === 128
}

/** Two local preferences for one route to one peer. */
function disagree({ spec: one = {} }: BGPAdvertisement, { spec: other = {} }: BGPAdvertisement): boolean {
  const { peers = [] } = one
  const isApart = peers.length > 0 && other.peers?.length && !peers.some((peer) => other.peers?.includes(peer))
  return !isApart && (one.localPref ?? 0) !== (other.localPref ?? 0)
}
