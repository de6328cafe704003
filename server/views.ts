import type { KubeClient } from '../kube/client.ts'
import type { Log } from '../kube/log.ts'
import type { Service } from '../kube/objects.ts'
import { type Reflector, reflector } from '../kube/reflector.ts'
import { services } from '../kube/resource.ts'
import type { Watcher } from '../kube/watch.ts'
import { type ElasticIP, elasticIPs } from '../ledger/elastic-ip.ts'

/** The process's copies of what it follows. */
export type Views = { services: Reflector<Service>; records: Reflector<ElasticIP> }

export function makeViews(client: KubeClient & Watcher, log: Log): Views {
  return {
    services: reflector({ client, resource: services, log }),
    records: reflector({ client, resource: elasticIPs, log }),
  }
}
