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

/** A Node without its unused fields. The largest part of its status is the list of every image on the machine. */
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

/** The fields of a spec that are read from the cache. Steps work on the result of a live read. */
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

/** No address, name or location is this long. */
const maxValueLength = 1_024

/** A single mistake already denies the Service its address. */
const maxMistakes = 20

/**
 * Keeps only the fields of a Service that we read. Users may write more than a MiB into each Service, and the cache has
 * all of them. An unknown annotation is kept on LoadBalancers, where it is a mistake. Services are only patched, so a
 * write never loses the dropped fields. Finalizers stay, because a patch writes the whole list.
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

/** A placeholder that is as invalid as the long text. A slice could be valid, and would keep the whole text in memory. */
function shortValue(value: string): string {
  return value.length > maxValueLength ? `(${value.length} characters)` : value
}

/** An advertisement can select Services by labels. Only a tenant who tries to fill our memory writes this many. */
function isShort(labels: Record<string, string> = {}): boolean {
  return JSON.stringify(labels).length <= maxValueLength
}

function pick<T extends object, K extends keyof T>(whole: T, names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.filter((name) => name in whole).map((name) => [name, whole[name]])) as Pick<T, K>
}

/** Names of all Service annotations that we read or write. */
function readAnnotations({ policy, announcer }: KeptOptions): Set<string> {
  const { annotations, requestAnnotations, managedAnnotation, locationSources } = policy
  return new Set([
    ...serviceAnnotations.map(({ name }) => name),
    ...annotations.known,
    ...requestAnnotations.annotations,
    // Regardless of the configured software: a Service may show an address through the annotation of another one.
    ...allRequestAnnotations,
    ...announcerAnnotations.filter(({ on }) => on === 'Service').map(({ name }) => name),
    ...Object.keys(silencingAnnotations),
    ...(managedAnnotation === undefined ? [] : [managedAnnotation]),
    ...locationSources.filter(({ kind }) => kind === 'annotation').map(({ name }) => name),
    ...(requestAnnotations.sharingKey === undefined ? [] : [requestAnnotations.sharingKey]),
    ...Object.keys(announcer.withdrawal?.annotations ?? {}),
  ])
}
