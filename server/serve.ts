import { once } from 'node:events'
import { type Doors, openDoors } from './doors/doors.ts'
import type { Check } from './doors/health.ts'
import { type Ground, type Surroundings, layGround } from './ground.ts'
import { type Parts, assemble } from './parts.ts'
import type { ServeSettings } from './settings/serve.ts'

/** Longer without a sign of life from the API server, a copy is cut off for good and only a restart helps. */
const silenceMs = 10 * 60_000

/** Runs webhooks and controllers until the signal aborts and everything that was begun has ended. */
export async function serve(settings: ServeSettings, surroundings: Surroundings): Promise<void> {
  const { signal } = surroundings
  const ground = await layGround(settings, surroundings)
  const parts = assemble(ground)
  // Outlives the signal: the copies are needed until the last review is answered.
  const running = new AbortController()
  try {
    for (const view of followed(parts)) view.start(running.signal)
    parts.locations.start(running.signal)
    parts.clients?.authorities.start(running.signal)
    await parts.certs.start(signal)
    if (signal.aborted) return
    await workBehind(await open(ground, parts), { parts, settings, signal })
    await parts.ledger.claims.idle()
    await ground.events.written()
    ground.log.info({ identity: ground.identity }, 'stopped')
  } finally {
    running.abort()
  }
}

/** Nodes are the controllers' alone. */
function followed({ views, leadership }: Parts) {
  const { nodes, ...ofAll } = views
  return leadership ? [nodes, ...Object.values(ofAll)] : Object.values(ofAll)
}

type Work = { parts: Parts; settings: ServeSettings; signal: AbortSignal }

/** Answers and leads until the signal aborts, or until leading fails for good; then nothing may keep the process. */
async function workBehind(doors: Doors, { parts, settings, signal }: Work): Promise<void> {
  try {
    await Promise.all([parts.leadership?.run(signal), closeAfter(signal, doors, settings.process.shutdownDelayMs)])
  } finally {
    await doors.close(0)
  }
}

/** Others lead as soon as we stop; reviews are answered until everybody has heard that we go. */
async function closeAfter(signal: AbortSignal, doors: Doors, delayMs: number): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
  await doors.close(delayMs)
}

async function open(ground: Ground, { webhooks, ...parts }: Parts): Promise<Doors> {
  const { settings, metrics, log, pathSecret, identity } = ground
  const { webhookBindAddress, webhookSecurePort, bindAddress, securePort } = settings.process
  metrics.gauge('cert_not_after_seconds', 'When the serving certificate ends.', () => {
    const endsMs = parts.certs.notAfterMs()
    return endsMs === undefined ? undefined : endsMs / 1000
  })
  const doors = await openDoors({
    certs: parts.certs,
    webhooks: webhooks && {
      at: { host: webhookBindAddress, port: webhookSecurePort },
      clients: parts.clients,
      webhooks,
      pathSecret,
      log,
      observe: (...review) => metrics.admission(...review),
    },
    health: {
      at: { host: bindAddress, port: securePort },
      live: liveness(parts),
      ready: [{ name: 'certificates', wrong: () => parts.certs.notReady() }, ...readiness(parts)],
      metrics: () => metrics.text(),
    },
  })
  log.info({ identity }, 'serving')
  return doors
}

/** What reviews are decided on. Nodes are not among it: reviews must be answered where nodes cannot be read. */
function reviewed({ views: { services, records } }: Pick<Parts, 'views'>) {
  return Object.entries({ services, records })
}

function liveness(parts: Pick<Parts, 'views'>): Check[] {
  return reviewed(parts).map(([name, view]) => ({
    name: `watch-${name}`,
    wrong: () => (view.silentForMs() > silenceMs ? 'the API server was not heard for 10 minutes' : undefined),
  }))
}

function readiness(parts: Pick<Parts, 'views'>): Check[] {
  return reviewed(parts).map(([name, view]) => ({
    name: `synced-${name}`,
    wrong: () => (view.hasSynced() ? undefined : 'the first list is not in yet'),
  }))
}
