import type { Logger } from 'pino'
import { type EventRecorders, type Recorder, ownObject } from '../telemetry/event-recorders.ts'
import type { Metrics } from '../telemetry/metrics/metrics.ts'
import { ReplaceableSecret } from '../lib/secret.ts'
import { withValues } from './reload/setting-changes.ts'
import { type SettingsReload, settingsReload } from './reload/settings-reload.ts'
import type { CloudSettings, CloudTools } from '../clouds/dialect/define-dialect.ts'
import type { ServeSettings } from '../commands/settings/serve.ts'
import type { CloudProvider } from '../clouds/ports/cloud-provider.ts'
import { type Cloud, CloudError } from '../clouds/ports/cloud.ts'
import type { KubeObject } from '../kube/objects.ts'
import type { Log } from '../kube/log.ts'

export type CloudConnection = {
  vendor: CloudProvider
  /** Absent without a configuration file. */
  reload: SettingsReload | undefined
}

type Needs = Omit<CloudTools, 'reserves' | 'log'> & { log: Logger; metrics: Metrics; events: EventRecorders }

/**
 * Makes the provider's client, with the means to replace its token. It calls the provider only if a location is
 * missing.
 */
export async function connectCloud(
  settings: ServeSettings,
  { metrics, events, observe, ...needs }: Needs,
): Promise<CloudConnection> {
  const { log } = needs
  const { only, verbosity } = settings.process
  const tools: CloudTools = {
    ...needs,
    reserves: only !== 'control-plane',
    observe(exchange) {
      const { call, ms, status, fault, cloudRequest } = exchange
      observe(exchange)
      const facts = { call, result: fault ?? String(status), status, ms: Math.round(ms), cloudRequest }
      // The vendor needs its own id of a failed call to answer questions about it.
      log[fault === undefined ? 'debug' : 'info'](facts, 'call to the provider')
    },
  }
  const apiKey = new ReplaceableSecret(settings.cloud.settings.apiKey)
  const makeProvider = async ({ dialect, settings: of }: CloudSettings) => dialect.makeProvider(of, tools)
  const provider = await makeProvider(withValues(settings.cloud, { apiKey }))
  const reload = makeReload(settings, { apiKey, policy: provider.policy, candidate: makeProvider, events, log })
  if (reload) readReload(metrics, reload)
  const reported = reportRefusals(provider.cloud, {
    events: events.of('service-controller'),
    about: ownObject(settings.process),
  })
  return { vendor: { ...provider, cloud: verbosity >= 3 ? loggedCloud(reported, log) : reported }, reload }
}

type ReloadParts = {
  apiKey: ReplaceableSecret
  policy: CloudProvider['policy']
  candidate: (found: CloudSettings) => Promise<CloudProvider>
  events: EventRecorders
  log: Logger
}

function makeReload(settings: ServeSettings, { events, ...parts }: ReloadParts) {
  const { cloud, cloudFile: file } = settings
  if (!file) return undefined
  return settingsReload({
    file,
    table: cloud.dialect.table,
    started: cloud,
    events: events.of('settings-reload'),
    about: ownObject(settings.process),
    ...parts,
  })
}

/** The same cloud, but logs its answers about single reservations in full. They contain no secret. */
function loggedCloud(cloud: Cloud, log: Log): Cloud {
  return {
    ...cloud,
    async reserve(request, signal) {
      const reservation = await cloud.reserve(request, signal)
      log.debug({ reservation: JSON.stringify(reservation) }, 'reserved')
      return reservation
    },
    async reservation(id, signal) {
      const reservation = await cloud.reservation(id, signal)
      log.debug({ id, reservation: JSON.stringify(reservation) }, 'reservation read')
      return reservation
    },
  }
}

/** Measures whether the process follows its configuration file. */
function readReload(metrics: Metrics, reload: SettingsReload): void {
  metrics.read('eip_admission_settings_last_reload_successful', () => Number(reload.isTakenUp()))
  metrics.read('eip_admission_settings_need_restart', () => reload.needRestart().length)
}

/** The remedy when the provider refuses every address, by fault. */
const remedies: Partial<Record<CloudError['fault'], string>> = {
  quota: 'delete reservations that are not needed, or request a higher quota from the provider',
  auth: 'give serve a token that may write',
}

/**
 * The same cloud, but reports in an Event why it refuses addresses. A Service that is denied on creation leaves no
 * object for an Event, and no provider says how much of its quota is left.
 */
export function reportRefusals(cloud: Cloud, { events, about }: { events: Recorder; about: KubeObject }): Cloud {
  return {
    ...cloud,
    async reserve(request, signal) {
      try {
        return await cloud.reserve(request, signal)
      } catch (error) {
        const remedy = error instanceof CloudError ? remedies[error.fault] : undefined
        if (error instanceof CloudError && remedy !== undefined) {
          const message = `${cloud.name} refuses to reserve an address: ${error.message}; ${remedy}`
          events.record(about, { type: 'Warning', reason: 'ReserveRefused', message })
        }
        throw error
      }
    },
  }
}
