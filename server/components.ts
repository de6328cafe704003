import type { CertSource } from '../certs/cert-source.ts'
import { selfSigned } from '../certs/self-signed.ts'
import { names } from '../manifests/names.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { makeControllers } from './controllers.ts'
import { clientAuthorities } from './listeners/client-authorities.ts'
import type { KnownClients } from './listeners/client-certificates.ts'
import type { Context } from './context.ts'
import { type Leadership, leadership } from './leadership.ts'
import { makeWebhooks } from './webhooks.ts'
import { type Dependencies, makeDependencies } from './dependencies.ts'

/** Everything that `serve` starts, watches and stops. */
export type Components = Pick<Dependencies, 'caches' | 'locations' | 'ownAddresses' | 'ledger'> & {
  /** Absent with --only=controllers. */
  webhooks: Webhook[] | undefined
  /** Absent with --only=webhooks. */
  leadership: Leadership | undefined
  certs: CertSource
  /** The clients that may call the webhooks; absent if knowing the path is enough. */
  clients: KnownClients | undefined
}

/** Makes every part of the process; nothing runs yet. */
export function makeComponents(context: Context): Components {
  const { only } = context.settings.process
  const deps = makeDependencies(context)
  const controllers = makeControllers(deps)
  const leader = leadership(context, (signal) => controllers.run(signal))
  context.metrics.gauge('leader', 'Whether this replica runs the controllers.', () => Number(leader.isLeader()))
  return {
    caches: deps.caches,
    locations: deps.locations,
    ownAddresses: deps.ownAddresses,
    ledger: deps.ledger,
    webhooks: only === 'controllers' ? undefined : makeWebhooks(deps),
    leadership: only === 'webhooks' ? undefined : leader,
    certs: makeCerts(context, () => only === 'webhooks' || leader.isLeader()),
    clients: makeClients(context),
  }
}

function makeClients({ settings, log }: Context): KnownClients | undefined {
  const { webhookClientCaFile: path, webhookClientNames: names } = settings.process
  return path === undefined ? undefined : { authorities: clientAuthorities({ path, log }), names, log }
}

function makeCerts({ client, log, settings }: Context, mayRotate: () => boolean): CertSource {
  return selfSigned({
    client,
    log,
    secret: { namespace: settings.process.namespace, name: names.authoritySecret },
    configurations: { mutating: names.mutatingConfiguration, validating: names.validatingConfiguration },
    lifetimes: { authorityMs: settings.process.caLifetimeMs, leafMs: settings.process.certLifetimeMs },
    mayRotate,
  })
}
