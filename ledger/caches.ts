import type { Node, Service, ServicePort } from '../kube/objects.ts'
import { type Reflector, reflector } from '../kube/reflector.ts'
import { nodes, services } from '../kube/resource.ts'
import { type ElasticIP, elasticIPs } from './record/elastic-ip.ts'
import type { Context } from './context.ts'
import type { Announcer } from '../announcers/announcer.ts'
import { allRequestAnnotations, announcerAnnotations, silencingAnnotations } from '../announcers/announcers.ts'
import { serviceAnnotations, ownPrefix } from './record/names.ts'
import { entriesWithSharedFields } from './record/shared-fields.ts'
import type { Policy } from '../settings/service-policy.ts'

export type Caches = {
  services: Reflector<Service>
  records: Reflector<ElasticIP>
  /** Only for the controllers: without them this cache is not started, and no review waits for it. */
  nodes: Reflector<Node>
}

type CacheOptions = Pick<Context, 'client' | 'log' | 'vendor' | 'announcer'>

/** Empty caches of the kinds that the ledger and the webhooks read. */
export function makeCaches({ client, log, vendor, announcer }: CacheOptions): Caches {
  const strip = keptService({ policy: vendor.policy, announcer })
  return {
    services: reflector({ client, resource: services, log, strip, keepManagers: entriesWithSharedFields }),
    records: reflector({ client, resource: elasticIPs, log }),
    nodes: reflector({ client, resource: nodes, log, strip: withoutUnusedStatus }),
  }
}

/** A Node without its unused fields. A kubelet lists every image of its machine in the status, the largest part of it. */
export function withoutUnusedStatus({
  status: { addresses = [], conditions = [], nodeInfo } = {},
  ...node
}: Node): Node {
  const { bootID = '', machineID = '', systemUUID = '' } = nodeInfo ?? {}
  return {
    ...node,
    status: { addresses, conditions, ...(nodeInfo && { nodeInfo: { bootID, machineID, systemUUID } }) },
  }
}

export type KeptOptions = {
  policy: Pick<Policy, 'annotations' | 'requestAnnotations' | 'managedAnnotation' | 'locationSources'>
  announcer: Pick<Announcer, 'withdrawal'>
}

/** The parts of a spec that anything reads of the cache. Steps are carried out for what a live read has. */
const specFields = [
  'type',
  'clusterIP',
  'clusterIPs',
  'loadBalancerIP',
  'loadBalancerClass',
  'ipFamilies',
  'ipFamilyPolicy',
  'allocateLoadBalancerNodePorts',
  'externalTrafficPolicy',
] as const satisfies (keyof Service['spec'])[]

const portFields = ['name', 'protocol', 'port', 'nodePort', 'targetPort'] as const satisfies (keyof ServicePort)[]

/** No address, name or location is as long. */
const maxValueLength = 1_024

/** A Service with a mistake gets no address, however many more it has. */
const maxMistakes = 20

/**
 * Keeps only the fields of a Service that we read. Users may write more than a MiB on each, and the cache keeps every
 * Service of the cluster. An unknown annotation is kept where it is a mistake, which is on LoadBalancers. Only patches
 * write a Service, so nothing that is missing here is lost there. Finalizers stay: a patch writes all of them.
 */
export function keptService(options: KeptOptions): (service: Service) => Service {
  const known = readAnnotations(options)
  const prefixes = [...options.policy.annotations.prefixes, ownPrefix]
  return (service) => {
    const isLoadBalancer = service.spec.type === 'LoadBalancer'
    const metadata: Service['metadata'] = { ...service.metadata }
    if (!isLoadBalancer || !isShort(metadata.labels)) delete metadata.labels
    delete metadata.ownerReferences
    if (metadata.annotations) {
      const isMistake = (name: string) => !known.has(name) && prefixes.some((prefix) => name.startsWith(prefix))
      const mistakes = isLoadBalancer ? Object.keys(metadata.annotations).filter(isMistake).slice(0, maxMistakes) : []
      const kept = Object.entries(metadata.annotations)
        .filter(([name]) => known.has(name) || mistakes.includes(name))
        .map(([name, value]) => [name, shortValue(value)] as const)
      metadata.annotations = Object.fromEntries(kept)
    }
    return { ...service, metadata, spec: keptSpec(service, isLoadBalancer) }
  }
}

function keptSpec({ spec }: Service, isLoadBalancer: boolean): Service['spec'] {
  const kept: Service['spec'] = pick(spec, specFields)
  if (kept.loadBalancerIP !== undefined) kept.loadBalancerIP = shortValue(kept.loadBalancerIP)
  if (isLoadBalancer && spec.ports) kept.ports = spec.ports.map((port) => pick(port, portFields))
  return kept
}

/** A text that is as wrong as the long one: a part of it might be right, and would keep the whole in memory. */
function shortValue(value: string): string {
  return value.length > maxValueLength ? `(${value.length} characters)` : value
}

/** An advertisement can select Services by labels, of which only a tenant who wants to fill our memory writes many. */
function isShort(labels: Record<string, string> = {}): boolean {
  return JSON.stringify(labels).length <= maxValueLength
}

function pick<T extends object, K extends keyof T>(whole: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.filter((name) => name in whole).map((name) => [name, whole[name]])) as Pick<T, K>
}

/** Names of all annotations of Services that we read or write. */
function readAnnotations({ policy, announcer }: KeptOptions): Set<string> {
  const { annotations, requestAnnotations, managedAnnotation, locationSources } = policy
  return new Set([
    ...serviceAnnotations.map(({ name }) => name),
    ...annotations.known,
    ...requestAnnotations.annotations,
    // Whichever software announces: a Service may show an address by the annotation of another.
    ...allRequestAnnotations,
    ...announcerAnnotations.filter(({ on }) => on === 'Service').map(({ name }) => name),
    ...Object.keys(silencingAnnotations),
    ...(managedAnnotation === undefined ? [] : [managedAnnotation]),
    ...locationSources.filter(({ kind }) => kind === 'annotation').map(({ name }) => name),
    ...(requestAnnotations.sharingKey === undefined ? [] : [requestAnnotations.sharingKey]),
    ...Object.keys(announcer.withdrawal?.annotations ?? {}),
  ])
}
