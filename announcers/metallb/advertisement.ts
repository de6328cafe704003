import type { WantedObject } from '../announcer.ts'
import { type Marks, type ExistingObjects, labelsOf } from './ownership.ts'
import type { WantedPool } from './pools.ts'
import { type BGPAdvertisement, isAdvertisement } from './resources.ts'
import { isForPool, hasOtherLocalPref } from './foreign-advertisements.ts'

/**
 * The advertisement of our pools, unless a foreign one takes its place. A foreign advertisement with our label replaces
 * ours for the pools that it selects. If one has another local preference, MetalLB would refuse ours beside it.
 */
export function advertisementFor(
  pools: readonly WantedPool[],
  marks: Marks,
  { foreign }: ExistingObjects,
): WantedObject[] {
  const { name, value } = marks.label
  const missing = pools.filter(({ facts }) => {
    const own = foreign.filter(isAdvertisement).filter((one) => isForPool(one, facts))
    return !own.some((one) => one.metadata.labels?.[name] === value || hasOtherLocalPref(one, facts))
  })
  if (missing.length === 0) return []
  // By label, the object does not change with every pool. We always set both lists: a predecessor lists its pools in
  // the first one.
  const isForAll = missing.length === pools.length
  const object: BGPAdvertisement = {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'BGPAdvertisement',
    metadata: { name: marks.advertisement, namespace: marks.namespace, labels: labelsOf(marks) },
    spec: {
      ipAddressPools: isForAll ? [] : missing.map(({ facts }) => facts.name),
      ipAddressPoolSelectors: isForAll ? [{ matchLabels: labelsOf(marks) }] : [],
    },
  }
  return [{ object, subjects: missing.flatMap(({ subjects }) => subjects) }]
}
