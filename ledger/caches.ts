import type { Node, Service } from '../kube/objects.ts'
import { type Reflector, reflector } from '../kube/reflector.ts'
import { nodes, services } from '../kube/resource.ts'
import { type ElasticIP, elasticIPs } from './record/elastic-ip.ts'
import type { Context } from './context.ts'
import type { Announcer } from '../announcers/announcer.ts'
import { allRequestAnnotations, silencingAnnotations } from '../announcers/announcers.ts'
import { ownPrefix } from './record/names.ts'
import type { Policy } from '../settings/service-policy.ts'

/** The caches of the process. */
export type Caches = {
  services: Reflector<Service>
  records: Reflector<ElasticIP>
  /** Only for the controllers: without them this cache is not started, and no review waits for it. */
  nodes: Reflector<Node>
}

type CacheOptions = Pick<Context, 'client' | 'log' | 'vendor' | 'announcer'>

export function makeCaches({ client, log, vendor, announcer }: CacheOptions): Caches {
  const strip = keptService({ policy: vendor.policy, announcer })
  return {
    services: reflector({ client, resource: services, log, strip }),
    records: reflector({ client, resource: elasticIPs, log }),
    nodes: reflector({ client, resource: nodes, log, strip: withoutUnusedStatus }),
  }
}

/** A kubelet lists every image of its machine in the status, which is the largest part of a Node. */
function withoutUnusedStatus({ status: { addresses = [], conditions = [], nodeInfo } = {}, ...node }: Node): Node {
  const { bootID = '', machineID = '', systemUUID = '' } = nodeInfo ?? {}
  return {
    ...node,
    status: { addresses, conditions, ...(nodeInfo && { nodeInfo: { bootID, machineID, systemUUID } }) },
  }
}

export type KeptOptions = {
  policy: Pick<Policy, 'annotations' | 'requestAnnotations' | 'managedAnnotation' | 'locationSources'>
  announcer: Pick<Announcer, 'request' | 'withdrawal'>
}

/**
 * Removes from a Service what we never read: labels, owners, and annotations outside the domains of those that we read.
 * Users may write more than a MiB of them on each Service, and the cache keeps every Service of the cluster.
 */
export function keptService(options: KeptOptions): (service: Service) => Service {
  const domains = new Set(readAnnotations(options).map(domainOf))
  return (service) => {
    const metadata: Service['metadata'] & { ownerReferences?: unknown } = { ...service.metadata }
    delete metadata.labels
    delete metadata.ownerReferences
    if (metadata.annotations) {
      const kept = Object.entries(metadata.annotations).filter(([name]) => domains.has(domainOf(name)))
      metadata.annotations = Object.fromEntries(kept)
    }
    return { ...service, metadata }
  }
}

/** Names of all annotations that we read or write on Services, and the prefixes under which an unknown one is a mistake. */
function readAnnotations({ policy, announcer }: KeptOptions): string[] {
  const { annotations, requestAnnotations, managedAnnotation, locationSources } = policy
  return [
    ownPrefix,
    ...annotations.known,
    ...annotations.prefixes,
    ...requestAnnotations.annotations,
    // Whichever software announces: a Service may show an address by the annotation of another.
    ...allRequestAnnotations,
    ...Object.keys(silencingAnnotations),
    ...(managedAnnotation === undefined ? [] : [managedAnnotation]),
    ...locationSources.filter(({ kind }) => kind === 'annotation').map(({ name }) => name),
    ...Object.keys(announcer.request('').annotations),
    ...Object.keys(announcer.withdrawal?.annotations ?? {}),
  ]
}

function domainOf(name: string): string {
  return name.includes('/') ? name.slice(0, name.indexOf('/')) : name
}
