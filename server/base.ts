import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { KubeClient } from '../kube/client.ts'
import { type ObservedCall, connect } from '../kube/connect.ts'
import type { Credentials } from '../kube/credentials.ts'
import type { Discovery } from '../kube/discovery.ts'
import type { Watcher } from '../kube/watch.ts'
import { makeCloudProvider } from './cloud-providers.ts'
import type { CloudProvider, CloudTools } from './clouds/cloud-provider.ts'
import { credentialsOf } from './cluster.ts'
import { type EventRecorders, eventRecorders } from './event-recorders.ts'
import { makeLog } from './log.ts'
import { objectText } from './log-object.ts'
import { loggedCloud } from './logged-cloud.ts'
import { clientObservers } from './metrics/clients.ts'
import { type Metrics, makeMetrics } from './metrics/metrics.ts'
import { readBuild, readProcess } from './metrics/process.ts'
import { readReload } from './metrics/reload.ts'
import { proxyOf } from './proxy.ts'
import { ReplaceableSecret } from './reload/replaceable-secret.ts'
import { withValues } from './reload/setting-changes.ts'
import { type SettingsReload, settingsReload } from './reload/settings-reload.ts'
import { type CloudSettings, dialects } from './settings/dialects.ts'
import type { ServeSettings } from './settings/serve.ts'

/** What `serve` needs of the process. */
export type ServeDeps = {
  env: Readonly<Record<string, string | undefined>>
  version: string
  /** Aborts when the process has to stop. */
  signal: AbortSignal
  /** Ends the process now, whatever it waits for. */
  endAtOnce: (reason: string) => void
}

/** What every process that serves has: its settings, and its ways to the cluster and the cloud. */
export type Base = {
  settings: ServeSettings
  log: Logger
  metrics: Metrics
  client: KubeClient & Watcher & Discovery
  credentials: Credentials
  userAgent: string
  events: EventRecorders
  vendor: CloudProvider
  /** Absent without a configuration file. */
  reload: SettingsReload | undefined
  /** The name of this replica. */
  identity: string
  endAtOnce: ServeDeps['endAtOnce']
}

/** Makes the clients of the cluster and the cloud. It calls neither, except where a location is missing. */
export async function createBase(settings: ServeSettings, deps: ServeDeps): Promise<Base> {
  const { env, version, signal, endAtOnce } = deps
  const log = await makeLog(settings.process)
  const userAgent = `eip-admission/${version}`
  const identity = `${hostname()}_${randomBytes(6).toString('hex')}`
  const metrics = makeMetrics()
  const observers = clientObservers(metrics)
  const apiKey = new ReplaceableSecret(settings.cloud.settings.apiKey)
  const tools: CloudTools = {
    userAgent,
    proxy: proxyOf(env),
    log,
    signal,
    reserves: settings.process.only !== 'control-plane',
    observe(exchange) {
      const { call, ms, status, fault, cloudRequest } = exchange
      observers.cloud(exchange)
      const facts = { call, result: fault ?? String(status), status, ms: Math.round(ms), cloudRequest }
      // Whoever asks the vendor about a failure needs the vendor's id of it.
      log[fault === undefined ? 'debug' : 'info'](facts, 'call to the cloud')
    },
  }
  const provider = await makeCloudProvider(withValues(settings.cloud, { apiKey }), tools)
  const reload = makeReload(settings, { apiKey, policy: provider.policy, tools, log, metrics })
  const hasObjects = settings.process.verbosity >= 3
  const vendor = hasObjects ? { ...provider, cloud: loggedCloud(provider.cloud, log) } : provider
  readProcess(metrics)
  readBuild(metrics, { version, cloud: vendor.cloud.name })
  for (const warning of [...settings.warnings, ...vendor.unsupported]) log.warn({ warning }, 'setting')
  // Reads are many: each renewal of a lease begins with one.
  const observe = (observed: ObservedCall) => {
    const { method, answer, ...call } = observed
    observers.apiServer(observed)
    const level = method === 'GET' ? 'trace' : 'debug'
    if (!log.isLevelEnabled(level)) return
    const object = hasObjects ? objectText(answer) : undefined
    log[level](object === undefined ? call : { ...call, object }, 'call to the API server')
  }
  const credentials = credentialsOf(settings.process, env)
  const client = connect(credentials, { userAgent, observe })
  const events = eventRecorders({ client, instance: identity, log })
  return { settings, log, metrics, client, credentials, userAgent, events, vendor, reload, identity, endAtOnce }
}

type ReloadParts = Pick<Base, 'log' | 'metrics'> & {
  apiKey: ReplaceableSecret
  policy: CloudProvider['policy']
  tools: CloudTools
}

/** Without a configuration file there is nothing to follow. */
function makeReload({ cloud, cloudFile: file }: ServeSettings, { tools, metrics, ...parts }: ReloadParts) {
  const table = dialects.find(({ name }) => name === cloud.dialect)?.table
  if (!file || !table) return undefined
  const candidate = (settings: CloudSettings) => makeCloudProvider(settings, tools)
  const reload = settingsReload({ file, table, started: cloud, candidate, ...parts })
  readReload(metrics, reload)
  return reload
}
