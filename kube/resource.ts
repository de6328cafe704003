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

export const services = defineResource<Service>({
  apiVersion: 'v1',
  kind: 'Service',
  plural: 'services',
  namespaced: true,
})
export const nodes = defineResource<Node>({ apiVersion: 'v1', kind: 'Node', plural: 'nodes', namespaced: false })
export const namespaces = defineResource<Namespace>({
  apiVersion: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
})
export const resourceQuotas = defineResource<ResourceQuota>({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  plural: 'resourcequotas',
  namespaced: true,
})
export const serviceCIDRs = defineResource<ServiceCIDR>({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  plural: 'servicecidrs',
  namespaced: false,
})
export const secrets = defineResource<Secret>({ apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true })
export const configMaps = defineResource<ConfigMap>({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
})
export const events = defineResource<KubeEvent>({ apiVersion: 'v1', kind: 'Event', plural: 'events', namespaced: true })
export const endpoints = defineResource<Endpoints>({
  apiVersion: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  namespaced: true,
})
export const endpointSlices = defineResource<EndpointSlice>({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
})
/** The namespace in which each kubelet keeps the lease of its node. */
export const nodeLeaseNamespace = 'kube-node-lease'

export const leases = defineResource<Lease>({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
})
export const mutatingWebhookConfigurations = defineResource<WebhookConfiguration>({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
  namespaced: false,
})
export const validatingWebhookConfigurations = defineResource<WebhookConfiguration>({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  namespaced: false,
})

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
