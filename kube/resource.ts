import type {
  ConfigMap,
  EndpointSlice,
  Endpoints,
  KubeEvent,
  KubeObject,
  Lease,
  Namespace,
  Node,
  ResourceQuota,
  Secret,
  Service,
  ServiceCIDR,
  WebhookConfiguration,
} from './objects.ts'

/** The place of a kind in the API, typed by its objects. */
export type Resource<T extends KubeObject> = {
  apiVersion: string
  kind: T['kind']
  plural: string
  namespaced: boolean
  /** The API server answers such an object instead of storing it. It has no name. */
  isReview?: true
}

/** Defines a resource whose type a room declares itself: the ledger's ElasticIP, MetalLB's pools. */
export function defineResource<T extends KubeObject>(resource: Resource<T>): Resource<T> {
  return resource
}

/**
 * Defines resources of an API version. The plural of most kinds is their name with an s. The type of an object is one of
 * `kube/`, or one that a room declares itself: MetalLB's pools.
 */
export function resourcesOf(apiVersion: string) {
  const define =
    (namespaced: boolean) =>
    <T extends KubeObject>(kind: T['kind'], plural = `${kind.toLowerCase()}s`): Resource<T> => ({
      apiVersion,
      kind,
      plural,
      namespaced,
    })
  return { inNamespaces: define(true), ofCluster: define(false) }
}

const core = resourcesOf('v1')
export const services = core.inNamespaces<Service>('Service')
export const nodes = core.ofCluster<Node>('Node')
export const namespaces = core.ofCluster<Namespace>('Namespace')
export const resourceQuotas = core.inNamespaces<ResourceQuota>('ResourceQuota')
export const serviceCIDRs = resourcesOf('networking.k8s.io/v1').ofCluster<ServiceCIDR>('ServiceCIDR')
export const secrets = core.inNamespaces<Secret>('Secret')
export const configMaps = core.inNamespaces<ConfigMap>('ConfigMap')
export const events = core.inNamespaces<KubeEvent>('Event')
export const endpoints = core.inNamespaces<Endpoints>('Endpoints', 'endpoints')
export const endpointSlices = resourcesOf('discovery.k8s.io/v1').inNamespaces<EndpointSlice>('EndpointSlice')
export const leases = resourcesOf('coordination.k8s.io/v1').inNamespaces<Lease>('Lease')
const admission = resourcesOf('admissionregistration.k8s.io/v1')
export const mutatingWebhookConfigurations = admission.ofCluster<WebhookConfiguration>('MutatingWebhookConfiguration')
export const validatingWebhookConfigurations = admission.ofCluster<WebhookConfiguration>(
  'ValidatingWebhookConfiguration',
)

/** The namespace in which each kubelet keeps the lease of its node. */
export const nodeLeaseNamespace = 'kube-node-lease'

/** The path of a collection, or of an object in it, or of that object's subresource. */
export function pathOf(
  resource: Resource<KubeObject>,
  at: { namespace?: string | undefined; name?: string | undefined; subresource?: string | undefined } = {},
): string {
  const root = resource.apiVersion === 'v1' ? '/api/v1' : `/apis/${resource.apiVersion}`
  const segments = [root]
  if (resource.namespaced && at.namespace !== undefined) segments.push('namespaces', encodeURIComponent(at.namespace))
  segments.push(resource.plural)
  if (at.name !== undefined) segments.push(encodeURIComponent(at.name))
  if (at.subresource !== undefined) segments.push(at.subresource)
  return segments.join('/')
}
