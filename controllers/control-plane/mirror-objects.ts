import { silencingAnnotations } from '../../announcers/announcers.ts'
import {
  type EndpointSlice,
  type Endpoints,
  type Key,
  type Service,
  type ServicePort,
  splitKey,
} from '../../kube/objects.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'

/** Everything that the plan for the mirror Service depends on. */
export type MirrorSeen = {
  key: Key
  /** The control-plane address; undefined until it was read from the provider. */
  address: string | undefined
  /** The port at the address, if it differs from the API servers' own. */
  port: number | undefined
  /** The Service of the API servers and where they listen, as they publish it themselves. */
  source: { service: Service | undefined; slices: readonly EndpointSlice[] }
  service: Service | undefined
  /** Present only if a predecessor left them. */
  endpoints: Endpoints | undefined
  /** Every slice of the Service, ours or not. */
  slices: readonly EndpointSlice[]
}

/** No known program serves this class, so none announces the Service or buys a load balancer for it. */
const mirrorClass = 'eip-admission.dev/control-plane'

/** Whether a Service is a mirror of the API servers that we made. */
export function isMirror({ spec }: Service): boolean {
  return spec.loadBalancerClass === mirrorClass
}

export const managedByLabel = 'endpointslice.kubernetes.io/managed-by'
const serviceLabel = 'kubernetes.io/service-name'
const manager = 'eip-admission.dev'

/** Selects the slices of every mirror Service. */
export const mirrorSlicesSelector = `${managedByLabel}=${manager}`

/** Selects the slices of a Service. */
export const slicesOf = (service: string): string => `${serviceLabel}=${service}`

/** The name of the mirror of the API servers' nth slice. Usually there is one, and RBAC permits the first few. */
export const sliceName = (service: string, n: number): string => `${service}-${n + 1}`

/** The fields of the Service when it becomes a load balancer, because only then can the class be chosen. */
export const becomingLoadBalancer = {
  type: 'LoadBalancer',
  loadBalancerClass: mirrorClass,
  // Nodes deliver packets for the address itself.
  allocateLoadBalancerNodePorts: false,
} as const

/** The new Service; undefined while something that it needs is unknown. */
export function newMirror(seen: MirrorSeen): Service | undefined {
  const { address, key } = seen
  const ports = mirrorPorts(seen)
  if (address === undefined || ports.length === 0) return undefined
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...splitKey(key), annotations: silencingAnnotations },
    spec: { ...becomingLoadBalancer, loadBalancerIP: address, ports },
  }
}

/** The ports: at the address, the API servers' port unless another is set; behind it, always theirs. */
export function mirrorPorts({ port, source }: MirrorSeen): ServicePort[] {
  const ports = source.service?.spec.ports ?? []
  return ports.map(({ name, protocol = 'TCP', port: inside, targetPort = inside }, n) => ({
    ...(name !== undefined && { name }),
    protocol,
    port: (n === 0 ? port : undefined) ?? (typeof targetPort === 'number' ? targetPort : inside),
    targetPort,
  }))
}

/**
 * The slices without failing API servers, unless no other is left. An API server without power stays published for up
 * to 25 s, and nodes would lose every connection that they deliver to it.
 */
export function withoutFailing(
  slices: readonly EndpointSlice[],
  isFailing: (address: string) => boolean,
): readonly EndpointSlice[] {
  const left = slices.map((slice) => ({
    ...slice,
    endpoints: (slice.endpoints ?? []).filter(
      ({ addresses }) => !addresses.some((one) => isFailing(canonicalIpAddress(one) ?? one)),
    ),
  }))
  return left.some(({ endpoints }) => endpoints.length > 0) ? left : slices
}

/** The slices of the mirror: exact copies of the API servers' slices. They are deleted with the Service. */
export function mirrorSlices({ source }: MirrorSeen, service: Service): EndpointSlice[] {
  const { name, namespace = '', uid = '' } = service.metadata
  return source.slices
    .toSorted((one, other) => (one.metadata.name < other.metadata.name ? -1 : 1))
    .map(({ addressType, endpoints, ports }, n) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: sliceName(name, n),
        namespace,
        labels: { [serviceLabel]: name, [managedByLabel]: manager },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name, uid }],
      },
      addressType,
      endpoints: endpoints ?? [],
      ports: ports ?? [],
    }))
}

/** The same in the form of Endpoints. */
export function mirrorSubsets({ source }: MirrorSeen): NonNullable<Endpoints['subsets']> {
  return source.slices.map(({ endpoints, ports }) => ({
    addresses: (endpoints ?? []).flatMap(({ addresses }) => addresses.map((ip) => ({ ip }))),
    ports: (ports ?? []).flatMap(({ name = '', port, protocol = 'TCP' }) =>
      port === undefined ? [] : [{ ...(name !== '' && { name }), port, protocol }],
    ),
  }))
}

/** Whether we made a slice. */
export function isOurSlice({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.[managedByLabel] === manager
}
