import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Announcer } from '../announcers/announcer.ts'
import type { KubeClient } from '../kube/client.ts'
import { connect } from '../kube/connect.ts'
import type { Discovery } from '../kube/discovery.ts'
import { type EventRecorder, eventRecorder } from '../kube/events.ts'
import type { Watcher } from '../kube/watch.ts'
import { announcerOf } from './announcers.ts'
import { makeCloudProvider } from './cloud-providers.ts'
import type { CloudProvider } from './clouds/cloud-provider.ts'
import { clusterId, credentialsOf } from './cluster.ts'
import { makeLog } from './log.ts'
import { type Metrics, makeMetrics } from './metrics.ts'
import { awaitPathSecret } from './path-secret.ts'
import type { ServeSettings } from './settings/serve.ts'

/** What `serve` needs of the process. */
export type ServeDeps = {
  env: Readonly<Record<string, string | undefined>>
  version: string
  /** Aborts when the process receives a signal to stop. */
  signal: AbortSignal
}

/** What everything else stands on. */
export type Context = {
  settings: ServeSettings
  log: Logger
  metrics: Metrics
  client: KubeClient & Watcher & Discovery
  events: EventRecorder
  vendor: CloudProvider
  announcer: Announcer
  /** Who of several replicas we are. */
  identity: string
  /** UID of the namespace kube-system. */
  cluster: string
  /** First segment of the webhooks' paths. */
  pathSecret: string
}

/** Reaches the API server and learns which cluster it is of. */
export async function createContext(settings: ServeSettings, { env, version, signal }: ServeDeps): Promise<Context> {
  const { process: own, cloud, warnings } = settings
  const log = await makeLog(own)
  const userAgent = `eip-admission/${version}`
  const identity = `${hostname()}_${randomBytes(6).toString('hex')}`
  const metrics = makeMetrics()
  const vendor = await makeCloudProvider(cloud, {
    userAgent,
    log,
    signal,
    observe: ({ call, ms, status, fault }) => metrics.cloudCall(call, fault ?? String(status), ms),
  })
  for (const warning of [...warnings, ...vendor.unsupported]) log.warn({ warning }, 'setting')
  const client = connect(credentialsOf(own.kubeconfig, env), { userAgent })
  const events = eventRecorder({ client, component: 'service-controller', instance: identity, log })
  const [cluster, pathSecret] = await Promise.all([
    clusterId(client, log, signal),
    awaitPathSecret(client, { namespace: own.namespace, log, signal }),
  ])
  const announcer = await announcerOf(vendor.loadBalancer, { client, marks: vendor.announcerMarks, log, signal })
  log.info({ version, identity, cluster, cloud: vendor.cloud.name }, 'starting')
  return { settings, log, metrics, client, events, vendor, announcer, identity, cluster, pathSecret }
}
