import type { WantedObject } from '../announcer.ts'
import type { KubeObject } from '../../kube/objects.ts'
import { type ShownAddress, prefixOf, servicesOf } from '../shared/address.ts'
import { isWritten, ownLabels } from '../shared/own-objects.ts'
import { type BGPConfiguration, apiVersion, entriesAnnotation, isConfiguration } from './resources.ts'

/** The only BGPConfiguration with a list of addresses for all nodes. */
export const configurationName = 'default'

/** Our entries in a list that people edit too. */
export function ownEntries({ metadata }: KubeObject): string[] {
  return (metadata.annotations?.[entriesAnnotation] ?? '').split(',').filter(Boolean)
}

function entriesOf(object: BGPConfiguration | undefined): string[] {
  return (object?.spec?.serviceLoadBalancerIPs ?? []).map(({ cidr }) => cidr)
}

/** Whether the list has an address, and as our entry. */
export function hasEntry(object: BGPConfiguration, cidr: string): boolean {
  return ownEntries(object).includes(cidr) && entriesOf(object).includes(cidr)
}

/** Whether everything in the object is ours: we created it, and it lists only our entries. */
export function isOnlyOurs(object: BGPConfiguration): boolean {
  const own = ownEntries(object)
  const { serviceLoadBalancerIPs: _list, ...others } = object.spec ?? {}
  // The API server adds these defaults.
  const defaults = ['logSeverityScreen', 'serviceLoadBalancerAggregation']
  return (
    isWritten(object) &&
    entriesOf(object).every((cidr) => own.includes(cidr)) &&
    Object.keys(others).every((name) => defaults.includes(name))
  )
}

/**
 * The list of addresses that Calico announces: our entries and other people's. An entry that a person wrote before us
 * stays theirs, and survives the removal of ours.
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
      // In a merge patch, null removes an annotation.
      annotations: { [entriesAnnotation]: own.length === 0 ? (null as unknown as string) : own.join(',') },
    },
    spec: { serviceLoadBalancerIPs: [...foreign, ...own].map((cidr) => ({ cidr })) },
  }
  return [{ object, subjects: servicesOf(shown) }]
}
