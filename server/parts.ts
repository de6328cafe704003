import type { CertSource } from '../certs/cert-source.ts'
import { selfSigned } from '../certs/self-signed.ts'
import { names } from '../manifests/names.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { makeControllers } from './controllers.ts'
import { clientAuthorities } from './doors/client-authorities.ts'
import type { KnownClients } from './doors/client-certificates.ts'
import type { Ground } from './ground.ts'
import { type Leadership, leadership } from './leadership.ts'
import { makeWebhooks } from './webhooks.ts'
import { type World, makeWorld } from './world.ts'

export type Parts = Pick<World, 'views' | 'locations' | 'ledger'> & {
  /** Absent with --only=controllers. */
  webhooks: Webhook[] | undefined
  /** Absent with --only=webhooks. */
  leadership: Leadership | undefined
  certs: CertSource
  /** Who may call the webhooks; absent where knowing their path is enough. */
  clients: KnownClients | undefined
}

/** Puts the rooms together; nothing runs yet. */
export function assemble(ground: Ground): Parts {
  const { only } = ground.settings.process
  const world = makeWorld(ground)
  const controllers = makeControllers(world)
  const leader = leadership(ground, (signal) => controllers.run(signal))
  ground.metrics.gauge('leader', 'Whether this replica runs the controllers.', () => Number(leader.isLeader()))
  return {
    views: world.views,
    locations: world.locations,
    ledger: world.ledger,
    webhooks: only === 'controllers' ? undefined : makeWebhooks(world),
    leadership: only === 'webhooks' ? undefined : leader,
    certs: makeCerts(ground, () => only === 'webhooks' || leader.isLeader()),
    clients: makeClients(ground),
  }
}

function makeClients({ settings, log }: Ground): KnownClients | undefined {
  const { webhookClientCaFile: path, webhookClientNames: names } = settings.process
  return path === undefined ? undefined : { authorities: clientAuthorities({ path, log }), names, log }
}

function makeCerts({ client, log, settings }: Ground, mayRotate: () => boolean): CertSource {
  return selfSigned({
    client,
    log,
    secret: { namespace: settings.process.namespace, name: names.authoritySecret },
    configurations: { mutating: names.mutatingConfiguration, validating: names.validatingConfiguration },
    lifetimes: { authorityMs: settings.process.caLifetimeMs, leafMs: settings.process.certLifetimeMs },
    mayRotate,
  })
}
