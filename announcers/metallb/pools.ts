import type { Problem, Wanted } from '../announcer.ts'
import type { IpAddress } from '../../lib/ip-address.ts'
import { isInRanges } from '../../lib/ip-range.ts'
import { nameOf, prefixOf } from './address.ts'
import type { Shown } from './addresses.ts'
import { inOrder } from './order.ts'
import { type Marks, type There, labelsOf } from './ownership.ts'
import { type IPAddressPool, isAdvertisement, isPool } from './resources.ts'
import { type PoolFacts, spoilers } from './foreign-advertisements.ts'

export type WantedPool = Wanted & { object: IPAddressPool; facts: PoolFacts }

/**
 * A pool for each address: two that overlap make MetalLB refuse both. One that holds just the address already is taken
 * over under the name that it has, and stays whatever other people write beside it: it may be announced.
 */
export function poolsOf(
  shown: readonly Shown[],
  marks: Marks,
  there: There,
): { wanted: WantedPool[]; problems: Problem[] } {
  const wanted: WantedPool[] = []
  const problems: Problem[] = []
  const known = new Map(there.ours.filter(isPool).map(({ spec, metadata }) => [spec.addresses.join(), metadata]))
  for (const { address, services } of shown) {
    const { name = nameOf(address), labels = {} } = known.get(prefixOf(address)) ?? {}
    const facts = { name, family: address.family, labels: { ...labels, ...labelsOf(marks) } }
    const concerns = services.map((service) => ({ service }))
    const message = known.has(prefixOf(address)) ? undefined : unavailableReason(address, facts, there)
    if (message === undefined) wanted.push({ object: makePool(name, address, marks), facts, concerns })
    else problems.push(...concerns.map((concern) => ({ concern, message })))
  }
  return { wanted, problems }
}

/** Never assigned by itself: a Service that waits for whatever address there is would get it first. */
function makePool(name: string, address: IpAddress, marks: Marks): IPAddressPool {
  return {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'IPAddressPool',
    metadata: { name, namespace: marks.namespace, labels: labelsOf(marks) },
    spec: { addresses: [prefixOf(address)], autoAssign: false },
  }
}

function unavailableReason(address: IpAddress, facts: PoolFacts, { theirs }: There): string | undefined {
  const holder = theirs.filter(isPool).find(({ spec }) => isInRanges(address, spec.addresses))
  if (holder)
    return `${address.text} is in IPAddressPool ${holder.metadata.name}, which is not ours: it gets no other one`
  const spoiling = spoilers(theirs.filter(isAdvertisement), facts).map(({ metadata }) => metadata.name)
  if (spoiling.length === 0) return undefined
  const named = spoiling.toSorted(inOrder).join(' and ')
  return `${address.text} gets no pool, as BGPAdvertisement ${named} would have MetalLB refuse it: by rolling up routes, or by two values of localPref`
}
