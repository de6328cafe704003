import { isDeepStrictEqual } from 'node:util'
import {
  type Endpoints,
  type EndpointSlice,
  type Ingress,
  type Service,
  type ServicePort,
  ingressOf,
} from '../../kube/objects.ts'
import { serviceFinalizer, upstreamFinalizer } from '../../ledger/record/names.ts'
import { type MirrorWanted, becomingLoadBalancer, mirrorAnnotations, mirrorPorts, newMirror } from './mirror-objects.ts'
import { type SliceStep, planSlices, planSubsets } from './mirror-endpoints.ts'

export type MirrorSeen = MirrorWanted & {
  service: Service | undefined
  /** Only a predecessor left them. */
  endpoints: Endpoints | undefined
  /** Every slice of the Service, ours or not. */
  slices: readonly EndpointSlice[]
}

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
 * The next step; undefined if the mirror is as it should be, or something is missing for which we must wait. API servers are
 * followed first: an address in the wrong place leads nowhere.
 */
export function planMirror(seen: MirrorSeen): MirrorStep | undefined {
  const { service } = seen
  if (!service) return creation(seen)
  const isGoing = service.metadata.deletionTimestamp !== undefined
  const ending = isGoing ? deletion(service) : undefined
  const following = ending ?? planSubsets(seen) ?? planSlices({ ...seen, service })
  return following ?? (isGoing ? undefined : (changing(seen, service) ?? showing(seen, service)))
}

function creation(seen: MirrorSeen): MirrorStep | undefined {
  const service = newMirror(seen)
  return service && { do: 'create-service', service }
}

/** Nothing is behind it that would have to be deleted at a cloud, whichever program thought so. */
function deletion(service: Service): MirrorStep | undefined {
  const { finalizers = [] } = service.metadata
  const others = finalizers.filter((name) => name !== upstreamFinalizer && name !== serviceFinalizer)
  return others.length < finalizers.length ? { do: 'finish-deletion', service, finalizers: others } : undefined
}

/** The step against a change by a person or another program; fields without a meaning for us are kept. */
function changing(seen: MirrorSeen, service: Service): MirrorStep | undefined {
  const metadata = changedAnnotations(service)
  const spec = changedSpec(seen, service)
  const change = { ...(metadata && { metadata }), ...(Object.keys(spec).length > 0 && { spec }) }
  return Object.keys(change).length > 0 ? { do: 'change-service', service, change } : undefined
}

function changedAnnotations({ metadata: { annotations = {} } }: Service): object | undefined {
  const isComplete = Object.entries(mirrorAnnotations).every(([name, value]) => annotations[name] === value)
  return isComplete ? undefined : { annotations: mirrorAnnotations }
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
    // No node would deliver anything: the endpoints name no nodes.
    ...(spec.externalTrafficPolicy === 'Local' && { externalTrafficPolicy: 'Cluster' }),
    ...(ports.length > 0 && !areSame(current, ports) && { ports: ports.map((port) => withNodePort(port, current)) }),
  }
}

function areSame(current: ServicePort[], ports: ServicePort[]): boolean {
  const compared = current.map(({ nodePort: _nodePort, ...port }) => port)
  return isDeepStrictEqual(compared, ports)
}

/** A predecessor's Service has node ports, by which people may reach it. */
function withNodePort(port: ServicePort, current: ServicePort[]): ServicePort {
  const nodePort = current.find(({ name }) => name === port.name)?.nodePort
  return nodePort === undefined ? port : { ...port, nodePort }
}

/** Nodes deliver what the status shows. An entry that shows the address stays as it is, `ipMode` included. */
function showing({ address }: MirrorSeen, service: Service): MirrorStep | undefined {
  if (address === undefined) return undefined
  const ingress = ingressOf(service)
  const shown = ingress.find(({ ip }) => ip === address)
  if (shown && ingress.length === 1) return undefined
  return { do: 'show-address', service, ingress: [shown ?? { ip: address }] }
}
