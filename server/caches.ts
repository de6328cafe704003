import type { KubeClient } from '../kube/client.ts'
import type { Log } from '../kube/log.ts'
import type { Node, Service } from '../kube/objects.ts'
import { type Reflector, reflector } from '../kube/reflector.ts'
import { nodes, services } from '../kube/resource.ts'
import type { Watcher } from '../kube/watch.ts'
import { type ElasticIP, elasticIPs } from '../ledger/record/elastic-ip.ts'

/** The caches of the process. */
export type Caches = {
  services: Reflector<Service>
  records: Reflector<ElasticIP>
  /** Only for the controllers: without them this cache is not started, and no review waits for it. */
  nodes: Reflector<Node>
}

export function makeCaches(client: KubeClient & Watcher, log: Log): Caches {
  return {
    services: reflector({ client, resource: services, log }),
    records: reflector({ client, resource: elasticIPs, log }),
    nodes: reflector({ client, resource: nodes, log, strip: withoutUnusedStatus }),
  }
}

/** A kubelet lists every image of its machine in the status, which is the largest part of a Node. */
function withoutUnusedStatus({ status: { addresses = [], conditions = [] } = {}, ...node }: Node): Node {
  return { ...node, status: { addresses, conditions } }
}
