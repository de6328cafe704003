import { once } from 'node:events'
import { type Listeners, openListeners } from './listeners/listeners.ts'
import type { Check } from './listeners/health.ts'
import { type Context, type ServeDeps, createContext } from './context.ts'
import { type Components, makeComponents } from './components.ts'
import type { ServeSettings } from './settings/serve.ts'

/** Longer without a sign of life from the API server, a copy is cut off for good and only a restart helps. */
const silenceMs = 10 * 60_000

/** Runs webhooks and controllers until the signal aborts and everything that was begun has ended. */
export async function serve(settings: ServeSettings, deps: ServeDeps): Promise<void> {
  const { signal } = deps
  const context = await createContext(settings, deps)
  const components = makeComponents(context)
  // Outlives the signal: the copies are needed until the last review is answered.
  const running = new AbortController()
  try {
    for (const cache of followed(components)) cache.start(running.signal)
    components.locations.start(running.signal)
    components.clients?.authorities.start(running.signal)
    await components.certs.start(signal)
    if (signal.aborted) return
    await workBehind(await open(context, components), { components, settings, signal })
    await components.ledger.claims.idle()
    await context.events.written()
    context.log.info({ identity: context.identity }, 'stopped')
  } finally {
    running.abort()
  }
}

/** Nodes are the controllers' alone. */
function followed({ caches, leadership }: Components) {
  const { nodes, ...ofAll } = caches
  return leadership ? [nodes, ...Object.values(ofAll)] : Object.values(ofAll)
}

type Work = { components: Components; settings: ServeSettings; signal: AbortSignal }

/** Answers and leads until the signal aborts, or until leading fails for good; then nothing may keep the process. */
async function workBehind(listeners: Listeners, { components, settings, signal }: Work): Promise<void> {
  try {
    await Promise.all([
      components.leadership?.run(signal),
      closeAfter(signal, listeners, settings.process.shutdownDelayMs),
    ])
  } finally {
    await listeners.close(0)
  }
}

/** Others lead as soon as we stop; reviews are answered until everybody has heard that we go. */
async function closeAfter(signal: AbortSignal, listeners: Listeners, delayMs: number): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
  await listeners.close(delayMs)
}

async function open(context: Context, { webhooks, ...components }: Components): Promise<Listeners> {
  const { settings, metrics, log, pathSecret, identity } = context
  const { webhookBindAddress, webhookSecurePort, bindAddress, securePort } = settings.process
  metrics.gauge('cert_not_after_seconds', 'When the serving certificate ends.', () => {
    const endsMs = components.certs.notAfterMs()
    return endsMs === undefined ? undefined : endsMs / 1000
  })
  const listeners = await openListeners({
    certs: components.certs,
    webhooks: webhooks && {
      at: { host: webhookBindAddress, port: webhookSecurePort },
      clients: components.clients,
      webhooks,
      pathSecret,
      log,
      observe: (...review) => metrics.admission(...review),
    },
    health: {
      at: { host: bindAddress, port: securePort },
      live: liveness(components),
      ready: [{ name: 'certificates', wrong: () => components.certs.notReady() }, ...readiness(components)],
      metrics: () => metrics.text(),
    },
  })
  log.info({ identity }, 'serving')
  return listeners
}

/** What reviews are decided on. Nodes are not among it: reviews must be answered where nodes cannot be read. */
function reviewed({ caches: { services, records } }: Pick<Components, 'caches'>) {
  return Object.entries({ services, records })
}

function liveness(components: Pick<Components, 'caches'>): Check[] {
  return reviewed(components).map(([name, cache]) => ({
    name: `watch-${name}`,
    wrong: () => (cache.silentForMs() > silenceMs ? 'the API server was not heard for 10 minutes' : undefined),
  }))
}

function readiness(components: Pick<Components, 'caches'>): Check[] {
  return reviewed(components).map(([name, cache]) => ({
    name: `synced-${name}`,
    wrong: () => (cache.hasSynced() ? undefined : 'the first list is not in yet'),
  }))
}
