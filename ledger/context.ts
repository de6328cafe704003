import type { Announcer } from '../announcers/announcer.ts'
import type { CloudProvider } from '../clouds/ports/cloud-provider.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Discovery } from '../kube/discovery.ts'
import type { Log } from '../kube/log.ts'
import type { Watcher } from '../kube/watch.ts'
import type { ClusterSettings } from '../settings/common.ts'
import type { ProcessSettings } from '../settings/process.ts'
import type { EventRecorders } from '../telemetry/event-recorders.ts'
import type { Metrics } from '../telemetry/metrics/metrics.ts'

/** The parts of the process that the ledger and the controllers need. */
export type Context = {
  client: KubeClient & Watcher & Discovery
  vendor: CloudProvider
  announcer: Announcer
  /** The id of the cluster, as written in the marks of its reservations. */
  cluster: string
  /** The name of this replica. */
  identity: string
  settings: { process: ProcessSettings; cluster: ClusterSettings }
  events: EventRecorders
  metrics: Metrics
  log: Log
}
