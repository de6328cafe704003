import type { ManagedFieldsEntry } from './managed-fields.ts'

/** A Kubernetes object as the API server sends it: plain JSON, timestamps as strings, unknown fields kept. */
export type KubeObject = {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
}

export type ObjectMeta = {
  name: string
  namespace?: string
  generateName?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  creationTimestamp?: string
  deletionTimestamp?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
  finalizers?: string[]
  ownerReferences?: OwnerReference[]
  /** Who set which fields. Caches drop it. */
  managedFields?: ManagedFieldsEntry[]
}

/** The manifest of the last client-side apply, from which kubectl knows what a later one leaves out. */
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

export type OwnerReference = { apiVersion: string; kind: string; name: string; uid: string; controller?: boolean }

export type ListMeta = { resourceVersion: string; continue?: string; remainingItemCount?: number }

export type Condition = {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
  lastTransitionTime: string
  observedGeneration?: number
}

export type ServicePort = {
  name?: string
  protocol?: string
  port: number
  nodePort?: number
  targetPort?: number | string
}

export type Ingress = { ip?: string; hostname?: string; ipMode?: 'VIP' | 'Proxy' }

export type Service = KubeObject & {
  apiVersion: 'v1'
  kind: 'Service'
  spec: {
    type?: 'ClusterIP' | 'NodePort' | 'LoadBalancer' | 'ExternalName'
    clusterIP?: string
    clusterIPs?: string[]
    loadBalancerIP?: string
    loadBalancerClass?: string
    ipFamilies?: ('IPv4' | 'IPv6')[]
    allocateLoadBalancerNodePorts?: boolean
    externalTrafficPolicy?: 'Cluster' | 'Local'
    ipFamilyPolicy?: 'SingleStack' | 'PreferDualStack' | 'RequireDualStack'
    ports?: ServicePort[]
    selector?: Record<string, string>
  }
  status?: { loadBalancer?: { ingress?: Ingress[] }; conditions?: Condition[] }
}

export type Taint = {
  key: string
  value?: string
  effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute'
  timeAdded?: string
}

export type NodeAddress = {
  type: 'Hostname' | 'InternalIP' | 'ExternalIP' | 'InternalDNS' | 'ExternalDNS'
  address: string
}

export type Node = KubeObject & {
  apiVersion: 'v1'
  kind: 'Node'
  spec: { providerID?: string; taints?: Taint[]; unschedulable?: boolean; podCIDR?: string; podCIDRs?: string[] }
  status?: {
    addresses?: NodeAddress[]
    conditions?: { type: string; status: 'True' | 'False' | 'Unknown'; lastTransitionTime?: string | null }[]
    nodeInfo?: { bootID?: string; machineID?: string; systemUUID?: string }
  }
}

/** A missing condition "ready" counts as true, by the rules of Kubernetes. */
export type EndpointConditions = { ready?: boolean; serving?: boolean; terminating?: boolean }

/** Where the pods, or the API servers, of a Service listen. */
export type EndpointSlice = KubeObject & {
  apiVersion: 'discovery.k8s.io/v1'
  kind: 'EndpointSlice'
  addressType: 'IPv4' | 'IPv6' | 'FQDN'
  /** The API server sends null instead of an empty list. */
  endpoints?: { addresses: string[]; nodeName?: string; conditions?: EndpointConditions }[] | null
  ports?: { name?: string; port?: number; protocol?: string }[] | null
}

/** The older form of EndpointSlices, deprecated since 1.33. Nodes read only slices. */
export type Endpoints = KubeObject & {
  apiVersion: 'v1'
  kind: 'Endpoints'
  subsets?: {
    addresses?: { ip: string }[]
    notReadyAddresses?: { ip: string }[]
    ports?: { name?: string; port: number; protocol?: string }[]
  }[]
}

/** The ranges of the cluster IPs of Services; API servers before 1.31 have no such object. */
export type ServiceCIDR = KubeObject & { kind: 'ServiceCIDR'; spec?: { cidrs?: string[] } }

export type Namespace = KubeObject & { apiVersion: 'v1'; kind: 'Namespace' }

export type Secret = KubeObject & { apiVersion: 'v1'; kind: 'Secret'; type?: string; data?: Record<string, string> }

export type ConfigMap = KubeObject & { apiVersion: 'v1'; kind: 'ConfigMap'; data?: Record<string, string> }

export type ResourceQuota = KubeObject & {
  apiVersion: 'v1'
  kind: 'ResourceQuota'
  /** Quantities as text, by resource: the limits of the API server, and its counts. */
  status?: { hard?: Record<string, string>; used?: Record<string, string> }
}

export type ClientConfig = {
  url?: string
  service?: { namespace: string; name: string; path?: string; port?: number }
  caBundle?: string
}

export type WebhookConfiguration = KubeObject & {
  kind: 'MutatingWebhookConfiguration' | 'ValidatingWebhookConfiguration'
  webhooks?: {
    name: string
    clientConfig: ClientConfig
    matchConditions?: { name: string; expression: string }[]
  }[]
}

/** An Event about an object, as `kubectl describe` shows it. */
export type KubeEvent = KubeObject & {
  apiVersion: 'v1'
  kind: 'Event'
  type: 'Normal' | 'Warning'
  reason: string
  message: string
  involvedObject: {
    apiVersion: string
    kind: string
    name: string
    namespace?: string
    uid?: string
    resourceVersion?: string
  }
  count: number
  firstTimestamp: string
  lastTimestamp: string
  source: { component: string }
  reportingComponent: string
  reportingInstance: string
}

/** Times in a Lease have six digits after the point. */
export type Lease = KubeObject & {
  apiVersion: 'coordination.k8s.io/v1'
  kind: 'Lease'
  spec?: {
    holderIdentity?: string
    leaseDurationSeconds?: number
    acquireTime?: string
    renewTime?: string
    leaseTransitions?: number
  }
}

/** The key of an object in a cache or queue: `namespace/name`, or `name` for a kind without namespaces. */
export type Key = string

/** The key of an object. */
export function keyOf(object: { metadata: { name: string; namespace?: string | undefined } }): Key {
  const { namespace, name } = object.metadata
  return namespace ? `${namespace}/${name}` : name
}

/** Namespace and name of a namespaced key. */
export function splitKey(key: Key): { namespace: string; name: string } {
  const slash = key.indexOf('/')
  if (slash < 1) throw new Error(`key ${key} has no namespace`)
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** Where a Service is reached, as its status says. */
export function ingressOf({ status }: Pick<Service, 'status'>): Ingress[] {
  return status?.loadBalancer?.ingress ?? []
}

/** The label of a node that takes no traffic from balancers. */
export const excludeLabel = 'node.kubernetes.io/exclude-from-external-load-balancers'

/** Whether the operator keeps balancers and addresses from routing to a node. As in Kubernetes 1.34, only `false` does not. */
export function isExcluded({ metadata }: Pick<Node, 'metadata'>): boolean {
  return (metadata.labels?.[excludeLabel] ?? 'false') !== 'false'
}

export type Rule = { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }
