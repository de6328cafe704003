import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Announcer } from '../announcers/announcer.ts'
import type { KubeClient } from '../kube/client.ts'
import { connect } from '../kube/connect.ts'
import type { Discovery } from '../kube/discovery.ts'
import type { Watcher } from '../kube/watch.ts'
import { announcerOf } from './announcers.ts'
import { makeCloudProvider } from './cloud-providers.ts'
import type { CloudProvider } from './clouds/cloud-provider.ts'
import { clusterId, credentialsOf } from './cluster.ts'
import { type EventRecorders, eventRecorders } from './event-recorders.ts'
import { makeLog } from './log.ts'
import { type Metrics, makeMetrics } from './metrics.ts'
import { awaitPathSecret } from './path-secret.ts'
import type { ServeSettings } from './settings/serve.ts'

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
  /** UID of the namespace kube-system. */
  cluster: string
  /** First segment of the webhooks' paths. */
  pathSecret: string
}

/** Connects to the API server and reads which cluster it serves. */
export async function createContext(settings: ServeSettings, { env, version, signal }: ServeDeps): Promise<Context> {
  const { process: processSettings, cloud, warnings } = settings
  const { namespace } = processSettings
  const log = await makeLog(processSettings)
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
  const client = connect(credentialsOf(processSettings.kubeconfig, env), { userAgent })
  const events = eventRecorders({ client, instance: identity, log })
  const [cluster, pathSecret] = await Promise.all([
    clusterId(client, log, signal),
    awaitPathSecret(client, { namespace, log, signal }),
  ])
  const announcer = announcerOf(vendor.loadBalancer, vendor.announcerMarks)
  log.info({ version, identity, cluster, cloud: vendor.cloud.name }, 'starting')
  return { settings, log, metrics, client, events, vendor, announcer, identity, cluster, pathSecret }
}
