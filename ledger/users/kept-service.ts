import type { Announcer } from '../../announcers/announcer.ts'
import { allRequestAnnotations, silencingAnnotations } from '../../announcers/announcers.ts'
import type { Service } from '../../kube/objects.ts'
import { ownPrefix } from '../record/names.ts'
import type { Policy } from '../../settings/service-policy.ts'

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
