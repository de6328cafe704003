import type { Problem, WantedObject } from '../announcer.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { isInRanges } from '../../lib/ip-range.ts'
import { prefixOf } from '../shared/address.ts'
import type { ShownAddress } from '../shared/shown-addresses.ts'
import { entriesAnnotation, isCreated, ownLabels } from './ownership.ts'
import { type BGPConfiguration, apiVersion, isConfiguration } from './resources.ts'

/** The only BGPConfiguration whose list of addresses counts for every node. */
export const configurationName = 'default'

/** Our entries in a list that people edit too. */
export function ownEntries({ metadata }: KubeObject): string[] {
  return (metadata.annotations?.[entriesAnnotation] ?? '').split(',').filter(Boolean)
}

function entriesOf(object: BGPConfiguration | undefined): string[] {
  return (object?.spec?.serviceLoadBalancerIPs ?? []).map(({ cidr }) => cidr)
}

/** Whether the list has an address as an entry of ours. */
export function hasEntry(object: BGPConfiguration, cidr: string): boolean {
  return ownEntries(object).includes(cidr) && entriesOf(object).includes(cidr)
}

/** Whether nothing in the object is anybody's but ours: we created it, and it lists our entries alone. */
export function isOnlyOurs(object: BGPConfiguration): boolean {
  const own = ownEntries(object)
  const { serviceLoadBalancerIPs: _list, ...others } = object.spec ?? {}
  // The API server adds these by itself.
  const defaults = ['logSeverityScreen', 'serviceLoadBalancerAggregation']
  return (
    isCreated(object) &&
    entriesOf(object).every((cidr) => own.includes(cidr)) &&
    Object.keys(others).every((name) => defaults.includes(name))
  )
}

/**
 * The list of addresses that Calico announces: ours beside those of people. An entry that a person wrote before us stays
 * his, and stays when ours go.
 */
export function configurationOf(shown: readonly ShownAddress[], existing: readonly KubeObject[]): WantedObject[] {
  const stored = existing.filter(isConfiguration).find(({ metadata }) => metadata.name === configurationName)
  const before = stored ? ownEntries(stored) : []
  const foreign = entriesOf(stored).filter((cidr) => !before.includes(cidr))
  const own = shown.map(({ address }) => prefixOf(address)).filter((cidr) => !foreign.includes(cidr))
  if (own.length + before.length === 0 || (own.length === 0 && stored && isOnlyOurs(stored))) return []
  const object: BGPConfiguration = {
    apiVersion,
    kind: 'BGPConfiguration',
    metadata: {
      name: configurationName,
      ...(stored ? {} : { labels: ownLabels }),
      // A merge patch removes an annotation by null.
      annotations: { [entriesAnnotation]: own.length === 0 ? (null as unknown as string) : own.join(',') },
    },
    spec: { serviceLoadBalancerIPs: [...foreign, ...own].map((cidr) => ({ cidr })) },
  }
  const subjects = shown.flatMap(({ services }) => services.map((service) => ({ service })))
  return [{ object, subjects }]
}

/** Entries of people that are wider than one address: Calico announces such a network from every node, as a whole. */
export function widerEntries(shown: readonly ShownAddress[], existing: readonly KubeObject[]): Problem[] {
  const wide = existing
    .filter(isConfiguration)
    .flatMap((object) => entriesOf(object).map((cidr) => ({ cidr, name: object.metadata.name })))
    .filter(({ cidr }) => !/\/(32|128)$/.test(cidr))
  return shown.flatMap(({ address, services }) => {
    const found = wide.find(({ cidr }) => isInRanges(address, [cidr]))
    if (!found) return []
    const message = `BGPConfiguration ${found.name} lists ${found.cidr}, which holds ${address.text}: Calico announces that network as a whole, from every node. Take it out of spec.serviceLoadBalancerIPs`
    return services.map((service) => ({ subject: { service }, message }))
  })
}
