import { once } from 'node:events'
import { type Listeners, openListeners } from './listeners/listeners.ts'
import { type Check, maxSilenceMs } from './listeners/health.ts'
import type { ServeDeps } from './base.ts'
import { type Context, createContext } from './context.ts'
import { type Components, makeComponents } from './components.ts'
import { readCertificates } from './metrics/certificates.ts'
import type { ServeSettings } from './settings/serve.ts'
import { tlsOptions } from './settings/tls.ts'

/** Runs webhooks and controllers until the signal aborts and all work has ended. */
export async function serve(settings: ServeSettings, deps: ServeDeps): Promise<void> {
  const { signal } = deps
  const context = await createContext(settings, deps)
  const components = makeComponents(context)
  // Outlives the signal: reviews need the caches until the last one is answered.
  const running = new AbortController()
  try {
    for (const cache of cachesToStart(components)) cache.start(running.signal)
    components.locations.start(running.signal)
    components.ownAddresses.start(running.signal)
    components.clients?.authorities.start(running.signal)
    components.paths.start(running.signal)
    context.reload?.start(running.signal)
    if (components.webhooks) await components.ownUser.start(running.signal)
    await components.certs.start(signal)
    if (signal.aborted) return
    const listeners = await open(context, components)
    components.probe?.start(signal)
    await runUntilAborted(listeners, { components, settings, signal })
    // Another replica may lead by now; a request for an address is bound to its record, not to the lease.
    await components.ledger.claims.idle()
    await context.events.written()
    context.log.info({ identity: context.identity }, 'stopped')
  } finally {
    running.abort()
  }
}

/** Only the controllers need nodes. */
function cachesToStart({ caches, leadership }: Components) {
  const { nodes, ...others } = caches
  return leadership ? [nodes, ...Object.values(others)] : Object.values(others)
}

type Work = { components: Components; settings: ServeSettings; signal: AbortSignal }

/** Answers reviews and runs for leader until the signal aborts. If the election fails, it closes the ports at once. */
async function runUntilAborted(listeners: Listeners, { components, settings, signal }: Work): Promise<void> {
  try {
    await Promise.all([
      components.leadership?.run(signal),
      components.guard?.run(signal),
      closeAfter(signal, listeners, settings.process.shutdownDelayMs),
    ])
  } finally {
    await listeners.close(0)
  }
}

/** Another replica leads as soon as we stop. Reviews are answered until every API server knows that we stop. */
async function closeAfter(signal: AbortSignal, listeners: Listeners, delayMs: number): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
  await listeners.close(delayMs)
}

async function open(context: Context, { webhooks, ...components }: Components): Promise<Listeners> {
  const { settings, metrics, log, identity } = context
  const { webhookBindAddress, webhookSecurePort, bindAddress, securePort } = settings.process
  readCertificates(metrics, components.certs)
  const listeners = await openListeners({
    certs: components.certs,
    tls: tlsOptions(settings.process),
    webhooks: webhooks && {
      at: { host: webhookBindAddress, port: webhookSecurePort },
      clients: components.clients,
      webhooks,
      pathSecrets: () => components.paths.accepted(),
      log,
      observe: (webhook, verdict, ms) =>
        metrics.observe('eip_admission_review_duration_seconds', { webhook, verdict }, ms),
    },
    health: {
      at: { host: bindAddress, port: securePort },
      live: liveness(components),
      ready: [{ name: 'certificates', problem: () => components.certs.notReady() }, ...readiness(components)],
      details: [
        { name: 'settings', problem: () => context.reload?.problem() },
        { name: 'cluster-id', problem: () => foreignCluster(components) },
        { name: 'admission', problem: () => components.probe?.problem() },
        { name: 'control-plane-address', problem: () => components.guard?.problem() },
      ],
      metrics: () => metrics.text(),
    },
  })
  log.info({ identity }, 'serving')
  return listeners
}

function foreignCluster({ ledger }: Pick<Components, 'ledger'>): string | undefined {
  const state = ledger.guard.state()
  return state.kind === 'foreign' ? state.reason : undefined
}

/** The caches that reviews need. Without nodes, so that a process that cannot read nodes still answers reviews. */
function reviewCaches({ caches: { services, records } }: Pick<Components, 'caches'>) {
  return Object.entries({ services, records })
}

function liveness(components: Pick<Components, 'caches'>): Check[] {
  return reviewCaches(components).map(([name, cache]) => ({
    name: `watch-${name}`,
    problem: () => (cache.silentForMs() > maxSilenceMs ? 'no word from the API server for 10 minutes' : undefined),
  }))
}

function readiness(components: Pick<Components, 'caches'>): Check[] {
  return reviewCaches(components).map(([name, cache]) => ({
    name: `synced-${name}`,
    problem: () => (cache.hasSynced() ? undefined : 'the first list has not arrived yet'),
  }))
}
