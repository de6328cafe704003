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
  // Outlives the signal: certificates and copies are needed until the last review is answered.
  const running = new AbortController()
  try {
    await start(parts, running.signal)
    const doors = await open(ground, parts)
    ground.log.info({ identity: ground.identity }, 'serving')
    await Promise.all([parts.leadership?.run(signal), closeAfter(signal, doors, settings.process.shutdownDelayMs)])
    await parts.ledger.claims.idle()
    await ground.events.written()
    ground.log.info({ identity: ground.identity }, 'stopped')
  } finally {
    running.abort()
  }
}

async function start({ views, locations, certs, leadership }: Parts, signal: AbortSignal): Promise<void> {
  locations.start(signal)
  if (leadership) for (const view of Object.values(views)) view.start(signal)
  await certs.start(signal)
}

/** Others lead as soon as we stop; reviews are answered until everybody has heard that we go. */
async function closeAfter(signal: AbortSignal, doors: Doors, delayMs: number): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
  await doors.close(delayMs)
}

function open({ settings, metrics, log, pathSecret }: Ground, { webhooks, ...parts }: Parts): Promise<Doors> {
  const { webhookBindAddress, webhookSecurePort, bindAddress, securePort } = settings.process
  metrics.gauge('cert_not_after_seconds', 'When the serving certificate ends.', () => {
    const endsMs = parts.certs.notAfterMs()
    return endsMs === undefined ? undefined : endsMs / 1000
  })
  return openDoors({
    certs: parts.certs,
    webhooks: webhooks && {
      at: { host: webhookBindAddress, port: webhookSecurePort },
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
}

function liveness({ views, leadership }: Omit<Parts, 'webhooks'>): Check[] {
  return Object.entries(leadership ? views : {}).map(([name, view]) => ({
    name: `watch-${name}`,
    wrong: () => (view.silentForMs() > silenceMs ? 'the API server was not heard for 10 minutes' : undefined),
  }))
}

function readiness({ views, leadership }: Omit<Parts, 'webhooks'>): Check[] {
  return Object.entries(leadership ? views : {}).map(([name, view]) => ({
    name: `synced-${name}`,
    wrong: () => (view.hasSynced() ? undefined : 'the first list is not in yet'),
  }))
}
