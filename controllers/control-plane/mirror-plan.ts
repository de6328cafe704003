import { isDeepStrictEqual } from 'node:util'
import { type Endpoints, type Ingress, type Service, type ServicePort, ingressOf } from '../../kube/objects.ts'
import { silencingAnnotations } from '../../announcers/announcers.ts'
import { serviceFinalizer, upstreamFinalizer } from '../../ledger/record/names.ts'
import { type MirrorSeen, becomingLoadBalancer, mirrorPorts, newMirror } from './mirror-objects.ts'
import { type SliceStep, planSlices, planSubsets } from './mirror-endpoints.ts'

export type MirrorStep =
  | { do: 'create-service'; service: Service }
  | { do: 'finish-deletion'; service: Service; finalizers: string[] }
  | { do: 'change-service'; service: Service; change: ServiceChange }
  | { do: 'show-address'; service: Service; ingress: Ingress[] }
  | { do: 'change-endpoints'; endpoints: Endpoints }
  | SliceStep

/** A merge patch. */
type ServiceChange = { metadata?: object; spec?: object }

/**
 * The next step; undefined if the mirror is as it should be, or we must wait for something. Endpoints come first,
 * because an address without the right ones leads nowhere.
 */
export function planMirror(seen: MirrorSeen): MirrorStep | undefined {
  const { service } = seen
  if (!service) {
    const created = newMirror(seen)
    return created && { do: 'create-service', service: created }
  }
  const isGoing = service.metadata.deletionTimestamp !== undefined
  const ending = isGoing ? deletion(service) : undefined
  const following = ending ?? planSubsets(seen) ?? planSlices({ ...seen, service })
  return following ?? (isGoing ? undefined : (changing(seen, service) ?? showing(seen, service)))
}

/** Finishes a deletion: there is nothing to delete at a provider, whichever program added a finalizer for that. */
function deletion(service: Service): MirrorStep | undefined {
  const { finalizers = [] } = service.metadata
  const others = finalizers.filter((name) => name !== upstreamFinalizer && name !== serviceFinalizer)
  return others.length < finalizers.length ? { do: 'finish-deletion', service, finalizers: others } : undefined
}

/** The step that reverts a change by a person or another program; fields without a meaning for us stay. */
function changing(seen: MirrorSeen, service: Service): MirrorStep | undefined {
  const metadata = changedAnnotations(service)
  const spec = changedSpec(seen, service)
  const change = { ...(metadata && { metadata }), ...(Object.keys(spec).length > 0 && { spec }) }
  return Object.keys(change).length > 0 ? { do: 'change-service', service, change } : undefined
}

function changedAnnotations({ metadata: { annotations = {} } }: Service): object | undefined {
  // They keep away software without support for classes, such as MetalLB before 0.13.
  const isComplete = Object.entries(silencingAnnotations).every(([name, value]) => annotations[name] === value)
  return isComplete ? undefined : { annotations: silencingAnnotations }
}

function changedSpec(seen: MirrorSeen, { spec }: Service): object {
  const { address } = seen
  const ports = mirrorPorts(seen)
  const current = spec.ports ?? []
  return {
    ...(spec.type !== 'LoadBalancer' && becomingLoadBalancer),
    ...(address !== undefined && spec.loadBalancerIP !== address && { loadBalancerIP: address }),
    // With a selector, other controllers would write the endpoints.
    ...(spec.selector !== undefined && { selector: null }),
    // Otherwise no node would deliver anything, because the endpoints name no nodes.
    ...(spec.externalTrafficPolicy === 'Local' && { externalTrafficPolicy: 'Cluster' }),
    ...(ports.length > 0 && !areSame(current, ports) && { ports: ports.map((port) => withNodePort(port, current)) }),
  }
}

function areSame(current: ServicePort[], ports: ServicePort[]): boolean {
  const compared = current.map(({ nodePort: _nodePort, ...port }) => port)
  return isDeepStrictEqual(compared, ports)
}

/** Keeps the node port of a predecessor's Service, through which people may reach it. */
function withNodePort(port: ServicePort, current: ServicePort[]): ServicePort {
  const nodePort = current.find(({ name }) => name === port.name)?.nodePort
  return nodePort === undefined ? port : { ...port, nodePort }
}

/**
 * Shows the address in the status, from which nodes deliver. An existing entry for it stays unchanged, including
 * `ipMode`.
 */
function showing({ address }: MirrorSeen, service: Service): MirrorStep | undefined {
  if (address === undefined) return undefined
  const ingress = ingressOf(service)
  const shown = ingress.find(({ ip }) => ip === address)
  if (shown && ingress.length === 1) return undefined
  return { do: 'show-address', service, ingress: [shown ?? { ip: address }] }
}
