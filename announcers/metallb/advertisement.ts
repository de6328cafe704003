import type { Wanted } from '../announcer.ts'
import { type Marks, type There, labelsOf } from './ownership.ts'
import type { WantedPool } from './pools.ts'
import { type BGPAdvertisement, isAdvertisement } from './resources.ts'
import { isFor, prefersOtherwise } from './foreign-advertisements.ts'

/**
 * What has our pools announced, as far as no advertisement of other people's does: one with our label replaces ours for
 * the pools that it is for, and beside one with another local preference MetalLB refuses ours.
 */
export function advertisementOf(pools: readonly WantedPool[], marks: Marks, { theirs }: There): Wanted[] {
  const { name, value } = marks.label
  const due = pools.filter(({ facts }) => {
    const own = theirs.filter(isAdvertisement).filter((one) => isFor(one, facts))
    return !own.some((one) => one.metadata.labels?.[name] === value || prefersOtherwise(one, facts))
  })
  if (due.length === 0) return []
  // By label it does not change with each pool. Both lists are always said: a predecessor names its pools in the first.
  const isForAll = due.length === pools.length
  const object: BGPAdvertisement = {
    apiVersion: 'metallb.io/v1beta1',
    kind: 'BGPAdvertisement',
    metadata: { name: marks.advertisement, namespace: marks.namespace, labels: labelsOf(marks) },
    spec: {
      ipAddressPools: isForAll ? [] : due.map(({ facts }) => facts.name),
      ipAddressPoolSelectors: isForAll ? [{ matchLabels: labelsOf(marks) }] : [],
    },
  }
  return [{ object, concerns: due.flatMap(({ concerns }) => concerns) }]
}
