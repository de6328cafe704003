import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { KubeClient } from '../kube/client.ts'
import { type ObservedCall, connect } from '../kube/connect.ts'
import type { Credentials } from '../kube/credentials.ts'
import type { Discovery } from '../kube/discovery.ts'
import type { Watcher } from '../kube/watch.ts'
import { type CloudConnection, connectCloud } from './cloud-connection.ts'
import { credentialsOf } from '../kube/kubeconfig.ts'
import { type EventRecorders, eventRecorders, ownObject } from '../telemetry/event-recorders.ts'
import { makeLog } from './log.ts'
import type { KubeObject } from '../kube/objects.ts'
import { objectText } from '../kube/log.ts'
import { clientObservers, readBuild, readProcess } from '../telemetry/metrics/process.ts'
import { type Metrics, makeMetrics } from '../telemetry/metrics/metrics.ts'
import { proxyOf } from '../clouds/http/proxy.ts'
import { type Activity, makeActivity } from '../telemetry/activity.ts'
import type { ServeSettings } from '../commands/settings/serve.ts'
import type { ServeDeps } from '../commands/command-deps.ts'

/** The basis of every process that serves: its settings, and its clients of the cluster and the provider. */
export type Base = CloudConnection & {
  settings: ServeSettings
  log: Logger
  metrics: Metrics
  /** The process's work since its start, for the status page. */
  activity: Activity
  rights: MissingRights
  /** The version of the program. */
  version: string
  client: KubeClient & Watcher & Discovery
  /** Only for elections, so that a burst of other calls never takes its connections. */
  leaseClient: KubeClient
  credentials: Credentials
  userAgent: string
  events: EventRecorders
  /** The name of this replica. */
  identity: string
  endAtOnce: ServeDeps['endAtOnce']
}

/** The time-out of a call to the API server; controllers repeat a call that failed. */
const timeoutMs = 10_000

/** Makes the clients of the cluster and the provider. It calls neither, unless a location is missing. */
export async function createBase(settings: ServeSettings, deps: ServeDeps): Promise<Base> {
  const { env, version, signal, endAtOnce } = deps
  const log = await makeLog(settings.process)
  const userAgent = `eip-admission/${version}`
  const identity = `${hostname()}_${randomBytes(6).toString('hex')}`
  const metrics = makeMetrics()
  const observers = clientObservers(metrics)
  const activity = makeActivity()
  const rights = missingRights((right) =>
    reportMissingRight({ log, events }, { right, about: ownObject(settings.process) }),
  )
  const logCall = callLog(log, settings.process)
  const observe = (observed: ObservedCall) => {
    observers.apiServer(observed)
    rights.observed(observed)
    logCall(observed)
  }
  const credentials = credentialsOf(settings.process, env)
  const client = connect(credentials, { userAgent, observe, timeoutMs })
  // The process takes part in two elections at most.
  const leaseClient = connect(credentials, { userAgent, observe, timeoutMs, maxConnections: 2 })
  const events = eventRecorders({ client, instance: identity, log })
  const { vendor, reload } = await connectCloud(settings, {
    userAgent,
    proxy: proxyOf(env),
    log,
    metrics,
    events,
    signal,
    observe(exchange) {
      observers.cloud(exchange)
      activity.exchanged(exchange)
    },
  })
  readProcess(metrics)
  metrics.read('eip_admission_missing_rights', () => rights.list().length)
  readBuild(metrics, { version, cloud: vendor.cloud.name })
  for (const warning of [...settings.warnings, ...vendor.unsupported]) log.warn({ warning }, 'setting')
  const clients = { client, leaseClient, credentials, userAgent, events, vendor, reload }
  return { settings, log, metrics, activity, rights, version, ...clients, identity, endAtOnce }
}

/** Logs the calls to the API server. Reads have a level of their own, because each lease renewal begins with one. */
function callLog(log: Logger, { verbosity }: ServeSettings['process']): (observed: ObservedCall) => void {
  const hasObjects = verbosity >= 3
  // An error message may contain the secret path of the webhooks.
  return ({ method, answer, message: _message, ...call }) => {
    const level = method === 'GET' ? 'trace' : 'debug'
    if (!log.isLevelEnabled(level)) return
    const object = hasObjects ? objectText(answer) : undefined
    log[level](object === undefined ? call : { ...call, object }, 'call to the API server')
  }
}

function reportMissingRight(
  { log, events }: Pick<Base, 'log' | 'events'>,
  { right, about }: { right: string; about: KubeObject },
): void {
  const message = `The API server denies this process the right to ${right}. ${remedyOfMissingRights}`
  log.error({ right }, 'a right is missing')
  events.of('own-rights').record(about, { type: 'Warning', reason: 'RightMissing', message })
}

/** The rights that the API server denied to this process recently. */
type MissingRights = {
  observed(call: Pick<ObservedCall, 'call' | 'result' | 'message'>): void
  /** Lists each right once, such as `patch services in namespace default`. */
  list(): string[]
  problem(): string | undefined
}

/** Every call that we need is repeated sooner, if only by the sweep. */
const rememberedMs = 10 * 60_000

/** The authorizer's wording. Admission plugins, quotas and terminating namespaces use others. */
const denial = /cannot (\S+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?/

/** Starts without missing rights. `onMissing` is called for a right when it is denied and was not denied recently. */
function missingRights(onMissing: (right: string) => void, now: () => number = () => performance.now()): MissingRights {
  const denials = new Map<string, { right: string; atMs: number }>()
  const list = () => {
    for (const [call, { atMs }] of denials) if (now() - atMs >= rememberedMs) denials.delete(call)
    return [...new Set([...denials.values()].map(({ right }) => right))].toSorted()
  }
  return {
    observed({ call, result, message = '' }) {
      if (result === 'ok') return void denials.delete(call)
      const right = result === 'Forbidden' ? rightOf(message) : undefined
      if (right === undefined) return
      const isNew = !list().includes(right)
      denials.set(call, { right, atMs: now() })
      if (isNew) onMissing(right)
    },
    list,
    problem: () => problemOf(list()),
  }
}

function rightOf(message: string): string | undefined {
  const [, verb, resource, group, namespace] = denial.exec(message) ?? []
  if (verb === undefined) return undefined
  return `${verb} ${resource}${group ? `.${group}` : ''}${namespace === undefined ? '' : ` in namespace ${namespace}`}`
}

function problemOf([first, ...others]: string[]): string | undefined {
  if (first === undefined) return undefined
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return `the API server denies this process the right to ${first}${more}. ${remedyOfMissingRights}`
}

/** How a person restores a missing right. */
const remedyOfMissingRights =
  'Run install with its original flags, or upgrade the chart. If eip-admission is also installed in another namespace, that installation took over the rights: ' +
  'a cluster can have only one installation'
