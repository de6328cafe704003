import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Announcer } from '../announcers/announcer.ts'
import type { KubeClient } from '../kube/client.ts'
import { type ObservedCall, connect } from '../kube/connect.ts'
import type { Discovery } from '../kube/discovery.ts'
import type { Watcher } from '../kube/watch.ts'
import { announcerOf } from './announcers.ts'
import { makeCloudProvider } from './cloud-providers.ts'
import type { CloudProvider } from './clouds/cloud-provider.ts'
import { clusterId, credentialsOf } from './cluster.ts'
import { type EventRecorders, eventRecorders } from './event-recorders.ts'
import { makeLog } from './log.ts'
import { type Metrics, makeMetrics } from './metrics.ts'
import { useProxyOf } from './proxy.ts'
import type { ServeSettings } from './settings/serve.ts'
import { awaitPathSegments } from './webhook-paths/path-secret.ts'
import type { PathSegments } from './webhook-paths/rotation.ts'

/** What `serve` needs of the process. */
export type ServeDeps = {
  env: Readonly<Record<string, string | undefined>>
  version: string
  /** Aborts when the process has to stop. */
  signal: AbortSignal
}

/** What the process needs to run at all. */
export type Context = {
  settings: ServeSettings
  log: Logger
  metrics: Metrics
  client: KubeClient & Watcher & Discovery
  events: EventRecorders
  vendor: CloudProvider
  announcer: Announcer
  /** The name of this replica. */
  identity: string
  /** The id of the cluster in the marks of its reservations. */
  cluster: string
  /** First segments of the webhooks' paths, as they were at the start. */
  pathSegments: PathSegments
}

/** Connects to the API server and reads which cluster it serves. */
export async function createContext(settings: ServeSettings, { env, version, signal }: ServeDeps): Promise<Context> {
  const { process: processSettings, cloud, warnings } = settings
  const { namespace } = processSettings
  useProxyOf(env)
  const log = await makeLog(processSettings)
  const userAgent = `eip-admission/${version}`
  const identity = `${hostname()}_${randomBytes(6).toString('hex')}`
  const metrics = makeMetrics()
  const vendor = await makeCloudProvider(cloud, {
    userAgent,
    log,
    signal,
    observe: ({ call, ms, status, fault }) => {
      const result = fault ?? String(status)
      metrics.cloudCall(call, result, ms)
      log.debug({ call, result, ms: Math.round(ms) }, 'call to the cloud')
    },
  })
  for (const warning of [...warnings, ...vendor.unsupported]) log.warn({ warning }, 'setting')
  // Reads are many: each renewal of a lease begins with one.
  const observe = ({ isRead, ...call }: ObservedCall) => log[isRead ? 'trace' : 'debug'](call, 'call to the API server')
  const client = connect(credentialsOf(processSettings.kubeconfig, env), { userAgent, observe })
  const events = eventRecorders({ client, instance: identity, log })
  const [cluster, pathSegments] = await Promise.all([
    clusterId({ client, configured: settings.cluster.clusterId, namespace, log, signal }),
    awaitPathSegments(client, { namespace, log, signal }),
  ])
  const announcer = announcerOf(vendor.loadBalancer, vendor.announcerMarks)
  log.info({ version, identity, cluster, cloud: vendor.cloud.name }, 'starting')
  return { settings, log, metrics, client, events, vendor, announcer, identity, cluster, pathSegments }
}
