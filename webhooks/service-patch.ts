import type { Service } from '../kube/objects.ts'
import type { Operation } from './decision.ts'

/** What is to be true of a Service: absent fields stay, `undefined` removes. */
export type ServiceChange = {
  name?: string
  finalizer?: string
  annotations?: Record<string, string | undefined>
  loadBalancerIP?: string | undefined
}

/** The smallest patch that makes a change true; empty where it is true already. */
export function servicePatch(service: Service, change: ServiceChange): Operation[] {
  const { metadata, spec } = service
  return [
    ...(change.name === undefined ? [] : member('/metadata', 'name', [metadata.name, change.name])),
    ...finalizerPatch(metadata.finalizers, change.finalizer),
    ...annotationPatch(metadata.annotations, change.annotations ?? {}),
    ...('loadBalancerIP' in change
      ? member('/spec', 'loadBalancerIP', [spec.loadBalancerIP, change.loadBalancerIP])
      : []),
  ]
}

function finalizerPatch(present: string[] | undefined, wanted: string | undefined): Operation[] {
  if (wanted === undefined || present?.includes(wanted)) return []
  return present
    ? [{ op: 'add', path: '/metadata/finalizers/-', value: wanted }]
    : [{ op: 'add', path: '/metadata/finalizers', value: [wanted] }]
}

function annotationPatch(
  present: Record<string, string> | undefined,
  wanted: Record<string, string | undefined>,
): Operation[] {
  const operations = Object.entries(wanted).flatMap(([name, value]) =>
    member('/metadata/annotations', name, [present?.[name], value]),
  )
  // RFC 6902 adds a member to a map that is there; it does not make the map.
  const makeMap: Operation = { op: 'add', path: '/metadata/annotations', value: {} }
  return operations.length > 0 && !present ? [makeMap, ...operations] : operations
}

function member(parent: string, name: string, [before, after]: [string | undefined, string | undefined]): Operation[] {
  if (before === after) return []
  const path = `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  return [after === undefined ? { op: 'remove', path } : { op: 'add', path, value: after }]
}
