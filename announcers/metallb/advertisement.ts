import type { WantedObject } from '../announcer.ts'
import { compareTexts } from '../shared/order.ts'
import { type Marks, type ExistingObjects, labelsOf } from './ownership.ts'
import type { WantedPool } from './pools.ts'
import { type BGPAdvertisement, isAdvertisement, isPool } from './resources.ts'
import { isForPool, hasOtherLocalPref } from './foreign-advertisements.ts'

/**
 * The advertisement of our pools, unless a foreign one takes its place. A foreign advertisement with our label replaces
 * ours for the pools that it selects. If one has another local preference, MetalLB would refuse ours beside it.
 *
 * It names its pools, as a predecessor's does. A label would miss a pool that we have not labelled yet. And a predecessor
 * that comes back deletes an advertisement that names none of its pools any more.
 */
export function advertisementFor(
  pools: readonly WantedPool[],
  marks: Marks,
  { ours, foreign }: ExistingObjects,
): WantedObject[] {
  const { name, value } = marks.label
  const missing = pools.filter(({ facts }) => {
    const own = foreign.filter(isAdvertisement).filter((one) => isForPool(one, facts))
    return !own.some((one) => one.metadata.labels?.[name] === value || hasOtherLocalPref(one, facts))
  })
  if (missing.length === 0) return []
  const known = ours.find(isAdvertisement)?.spec
  const object: BGPAdvertisement = {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'BGPAdvertisement',
    metadata: { name: marks.advertisement, namespace: marks.namespace, labels: labelsOf(marks) },
    spec: {
      ipAddressPools: poolNames(
        missing.map(({ facts }) => facts.name),
        known?.ipAddressPools ?? [],
        foreign.filter(isPool).map(({ metadata }) => metadata.name),
      ),
      // Written only to empty it: a field that we leave out stays.
      ...(known?.ipAddressPoolSelectors?.length ? { ipAddressPoolSelectors: [] } : {}),
    },
  }
  return [{ object, subjects: missing.flatMap(({ subjects }) => subjects) }]
}

/** The names in the order that they have, then new ones. A foreign pool that a person named here stays announced. */
function poolNames(wanted: readonly string[], known: readonly string[], foreign: readonly string[]): string[] {
  const possible = new Set([...wanted, ...foreign])
  const kept = new Set(known.filter((name) => possible.has(name)))
  return [...kept, ...wanted.filter((name) => !kept.has(name)).toSorted(compareTexts)]
}
