import type { KubeClient } from '../kube/client.ts'
import type { Log } from '../kube/log.ts'
import type { Node, Service } from '../kube/objects.ts'
import { type Reflector, reflector } from '../kube/reflector.ts'
import { nodes, services } from '../kube/resource.ts'
import type { Watcher } from '../kube/watch.ts'
import { type ElasticIP, elasticIPs } from '../ledger/record/elastic-ip.ts'

/** The process's copies of what it follows. */
export type Caches = {
  services: Reflector<Service>
  records: Reflector<ElasticIP>
  /** Followed for the controllers alone: where they do not run it stands still, and no review waits for it. */
  nodes: Reflector<Node>
}

export function makeCaches(client: KubeClient & Watcher, log: Log): Caches {
  return {
    services: reflector({ client, resource: services, log }),
    records: reflector({ client, resource: elasticIPs, log }),
    nodes: reflector({ client, resource: nodes, log, strip: withoutBallast }),
  }
}

/** A kubelet lists every image of its machine in the status, which is most of a Node. */
function withoutBallast({ status: { addresses = [], conditions = [] } = {}, ...node }: Node): Node {
  return { ...node, status: { addresses, conditions } }
}
