import { once } from 'node:events'
import { runAll } from '../controllers/loop/controller.ts'
import { type Listeners, openListeners } from './listeners/listeners.ts'
import type { ServeDeps } from '../commands/command-deps.ts'
import { type Context, createContext } from './context.ts'
import { type Components, makeComponents } from './components.ts'
import { readCertificates } from '../telemetry/metrics/process.ts'
import { retryUntilAnswered } from '../kube/connect.ts'
import type { ServeSettings } from '../commands/settings/serve.ts'
import { tlsOptions } from '../settings/tls.ts'
import { type Checks, serveChecks } from './health-checks.ts'
import { serveFacts } from './status-page-facts.ts'
import { makeStatusPage, showOnLoopback } from './shown-page.ts'
import type { StatusPage } from '../status-page/status-page.ts'

/** Runs webhooks and controllers until the signal aborts and all work has ended. */
export async function serve(settings: ServeSettings, deps: ServeDeps): Promise<void> {
  const { signal } = deps
  const context = await createContext(settings, deps)
  const components = makeComponents(context)
  // Outlives the signal, because reviews need the caches until the last one is answered.
  const running = new AbortController()
  // Work that stops at the signal must also stop after a failure. Otherwise it would keep the process alive and acting.
  const working = AbortSignal.any([signal, running.signal])
  try {
    for (const cache of cachesToStart(components)) cache.start(running.signal)
    components.locations.start(running.signal)
    components.ownAddresses.start(running.signal)
    components.clients?.authorities.start(running.signal)
    components.path.start(running.signal)
    context.reload?.start(running.signal)
    if (components.webhooks) await components.ownUser.start(running.signal)
    await components.certs.start(working)
    if (signal.aborted) return
    if (components.leadership) components.standBy(working)
    await checkProject(context, components, signal)
    const checks = serveChecks(context, components)
    const page = makeStatusPage(context, () => serveFacts(context, components, checks))
    const listeners = await open(context, { components, page, checks })
    components.probe?.start(working)
    showOnLoopback(context, page, running.signal)
    await runUntilAborted(listeners, { components, settings, signal })
    // Another replica may already lead; a request for an address is bound to its record, not to the lease.
    await components.ledger.claims.idle()
    await context.events.written()
    context.log.info({ identity: context.identity }, 'stopped')
  } finally {
    running.abort()
  }
}

/** The first review may request an address, so we must know by then whether the project is the ledger's. */
function checkProject({ log }: Context, { ledger }: Components, signal: AbortSignal): Promise<void> {
  return retryUntilAnswered(() => ledger.project.check(signal), { what: 'the project of the ledger', log, signal })
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}

type Served = { components: Components; page: StatusPage; checks: Checks }

/** Only the controllers need nodes. */
function cachesToStart({ caches, leadership }: Components) {
  const { nodes, ...others } = caches
  return leadership ? [nodes, ...Object.values(others)] : Object.values(others)
}

type Work = { components: Components; settings: ServeSettings; signal: AbortSignal }

/** Answers reviews and runs for leader until the signal aborts. If the election or the guardian fails, everything ends. */
function runUntilAborted(listeners: Listeners, { components, settings, signal }: Work): Promise<void> {
  const { ledger, leadership, followed, guardian } = components
  const lead = (own: AbortSignal) => (leadership ?? followed)?.run(own) ?? untilAborted(own)
  const closing = async (until: AbortSignal) => {
    await untilAborted(until)
    // Another replica leads as soon as we stop. We answer reviews until every API server knows that we are stopping.
    await listeners.close(signal.aborted ? settings.process.shutdownDelayMs : 0)
  }
  return runAll(
    [
      { run: (until) => ledger.project.run(lead, until) },
      { run: async (until) => guardian?.run(until) },
      { run: closing },
    ],
    signal,
  )
}

async function open(context: Context, { components, page, checks }: Served): Promise<Listeners> {
  const { settings, metrics, log, identity } = context
  const { webhookBindAddress, webhookSecurePort, bindAddress, securePort, statusPageTokenFile } = settings.process
  const { webhooks, certs, clients, path } = components
  readCertificates(metrics, certs)
  const listeners = await openListeners({
    certs,
    tls: tlsOptions(settings.process),
    webhooks: webhooks && {
      at: { host: webhookBindAddress, port: webhookSecurePort },
      clients,
      webhooks,
      pathSecrets: () => path.accepted(),
      readPathSecrets: () => path.readAgain(),
      log,
      observe: (webhook, verdict, ms) =>
        metrics.observe('eip_admission_review_duration_seconds', { webhook, verdict }, ms),
    },
    health: {
      at: { host: bindAddress, port: securePort },
      // This port is reachable for others than the host's own users.
      page: statusPageTokenFile === undefined ? undefined : page,
      ...checks,
      metrics: () => metrics.text(),
    },
    log,
  })
  log.info({ identity }, 'serving')
  return listeners
}
