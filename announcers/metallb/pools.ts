import type { Problem, WantedObject } from '../announcer.ts'
import type { IpAddress } from '../../lib/ip-address.ts'
import { isInRanges } from '../../lib/ip-range.ts'
import { nameOf, prefixOf } from './address.ts'
import type { ShownAddress } from './addresses.ts'
import { compareTexts } from './order.ts'
import { type Marks, type ExistingObjects, labelsOf } from './ownership.ts'
import { type IPAddressPool, isAdvertisement, isPool } from './resources.ts'
import { type PoolFacts, conflictingAdvertisements } from './foreign-advertisements.ts'

export type WantedPool = WantedObject & { object: IPAddressPool; facts: PoolFacts }

/**
 * A pool for each address. MetalLB refuses two pools that overlap. An existing pool of ours with just this address keeps
 * its name. It stays whatever foreign objects exist: its address may be announced already.
 */
export function poolsOf(
  shown: readonly ShownAddress[],
  marks: Marks,
  existing: ExistingObjects,
): { wanted: WantedPool[]; problems: Problem[] } {
  const wanted: WantedPool[] = []
  const problems: Problem[] = []
  const known = new Map(existing.ours.filter(isPool).map(({ spec, metadata }) => [spec.addresses.join(), metadata]))
  for (const { address, services } of shown) {
    const { name = nameOf(address), labels = {} } = known.get(prefixOf(address)) ?? {}
    const facts = { name, family: address.family, labels: { ...labels, ...labelsOf(marks) } }
    const subjects = services.map((service) => ({ service }))
    const message = known.has(prefixOf(address)) ? undefined : unavailableReason(address, facts, existing)
    if (message === undefined) wanted.push({ object: makePool(name, address, marks), facts, subjects })
    else problems.push(...subjects.map((subject) => ({ subject, message })))
  }
  return { wanted, problems }
}

/** Without automatic assignment: MetalLB would give the address to any Service that waits for one. */
function makePool(name: string, address: IpAddress, marks: Marks): IPAddressPool {
  return {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'IPAddressPool',
    metadata: { name, namespace: marks.namespace, labels: labelsOf(marks) },
    spec: { addresses: [prefixOf(address)], autoAssign: false },
  }
}

/** Why an address in a foreign pool gets no pool of ours. */
export function poolConflict(address: string, pool: string): string {
  return `address ${address} is in ${pool}, which eip-admission does not manage, so it gets no pool of its own; remove it from there`
}

function unavailableReason(address: IpAddress, facts: PoolFacts, { foreign }: ExistingObjects): string | undefined {
  const holder = foreign.filter(isPool).find(({ spec }) => isInRanges(address, spec.addresses))
  if (holder) return poolConflict(address.text, `IPAddressPool ${holder.metadata.name}`)
  const conflicting = conflictingAdvertisements(foreign.filter(isAdvertisement), facts).map(
    ({ metadata }) => metadata.name,
  )
  if (conflicting.length === 0) return undefined
  const named = conflicting.toSorted(compareTexts).join(' and ')
  return `address ${address.text} gets no pool: MetalLB would refuse it, as BGPAdvertisement ${named} aggregates routes or sets a second localPref; make ${named} select other pools`
}
