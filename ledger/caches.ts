import type { Node, Service } from '../kube/objects.ts'
import { type Reflector, reflector } from '../kube/reflector.ts'
import { nodes, services } from '../kube/resource.ts'
import { type ElasticIP, elasticIPs } from './record/elastic-ip.ts'
import type { Context } from './context.ts'
import { keptService } from './users/kept-service.ts'

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
function withoutUnusedStatus({ status: { addresses = [], conditions = [] } = {}, ...node }: Node): Node {
  return { ...node, status: { addresses, conditions } }
}
