import type { CertSource } from '../certs/cert-source.ts'
import { mountedCertificate } from '../certs/mounted.ts'
import { selfSigned } from '../certs/self-signed.ts'
import { replacedProgram } from '../clouds/dialects.ts'
import { names } from '../settings/installed-names.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { type Controllers, makeControllers } from '../controllers/controllers.ts'
import { type ControlPlaneGuardian, controlPlaneGuardian } from '../controllers/control-plane/control-plane-guardian.ts'
import { clientAuthorities } from './listeners/client-authorities.ts'
import type { KnownClients } from './listeners/client-certificates.ts'
import type { Context } from './context.ts'
import { type Leadership, followedLeadership, leadership, otherLeader } from './leadership.ts'
import { type OwnUser, ownUser } from '../webhooks/own-user.ts'
import { type WebhookProbe, webhookProbe } from '../webhooks/webhook-probe.ts'
import { makeWebhooks } from './webhooks.ts'
import { type WebhookPath, webhookPath } from '../webhooks/webhook-path.ts'
import { type Dependencies, makeDependencies } from './dependencies.ts'

/** Everything that `serve` starts, watches and stops. */
export type Components = Pick<
  Dependencies,
  'caches' | 'locations' | 'ownAddresses' | 'ledger' | 'machines' | 'peerFacts'
> & {
  queues: Controllers['queues']
  standBy: Controllers['standBy']
  /** Absent with --only=controllers. */
  webhooks: Webhook[] | undefined
  /** Absent with --only=controllers, or if the operator turned it off. */
  probe: WebhookProbe | undefined
  /** The user whose requests the webhooks treat as our own. */
  ownUser: OwnUser
  /** Absent with --only=webhooks. */
  leadership: Leadership | undefined
  /** The observed leader, with --only=webhooks. */
  followed: Leadership | undefined
  /** Absent with --only=webhooks, or if the operator named no control-plane address. */
  guardian: ControlPlaneGuardian | undefined
  certs: CertSource
  path: WebhookPath
  /** The clients that may call the webhooks; absent if knowing the path is enough. */
  clients: KnownClients | undefined
}

/** Makes every part of the process; nothing runs yet. */
export function makeComponents(context: Context): Components {
  const { only, namespace } = context.settings.process
  const deps = makeDependencies(context)
  const controllers = makeControllers(deps, {
    isLeader: () => leader.isLeader(),
    writeMs: () => leader.writeMs(),
    replacedProgram,
  })
  const self = ownUser({ ...context, namespace })
  const leader = leadership(context, (signal, silentMs) => {
    deps.ledger.heartbeats.reset(silentMs)
    return controllers.run(signal)
  })
  const followed = only === 'webhooks' ? followedLeadership(context) : undefined
  const mayRotate = () => only === 'webhooks' || leader.isLeader()
  readLeadership(context, leader)
  return {
    caches: deps.caches,
    locations: deps.locations,
    ownAddresses: deps.ownAddresses,
    ledger: deps.ledger,
    machines: deps.machines,
    peerFacts: deps.peerFacts,
    queues: () => controllers.queues(),
    standBy: (signal) => controllers.standBy(signal),
    webhooks:
      only === 'controllers'
        ? undefined
        : makeWebhooks(deps, { isSelf: self.isSelf, otherLeader: () => otherLeader(followed ?? leader) }),
    ownUser: self,
    probe: makeProbe(context, () => only === 'webhooks' || leader.isLeader()),
    leadership: followed ? undefined : leader,
    followed,
    guardian: only === 'webhooks' ? undefined : controlPlaneGuardian(context),
    certs: makeCerts(context, mayRotate),
    path: webhookPath({ ...context, namespace, segment: context.pathSecret, mayConfigure: mayRotate }),
    clients: makeClients(context),
  }
}

function readLeadership({ metrics, settings }: Context, leader: Leadership): void {
  const { leaderElect, leaseName: name } = settings.process
  metrics.read('eip_admission_leader', () => Number(leader.isLeader()))
  if (!leaderElect) return
  metrics.readEach('leader_election_master_status', () => [{ labels: { name }, value: Number(leader.isLeader()) }])
}

function makeProbe({ client, log, settings, events, metrics }: Context, mayReport: () => boolean) {
  const { only, namespace, webhookProbeIntervalMs: intervalMs } = settings.process
  if (only === 'controllers' || intervalMs === 0) return undefined
  const recorder = events.of('webhook-probe')
  const probe = webhookProbe({ client, namespace, intervalMs, events: recorder, mayReport, log })
  metrics.read('eip_admission_webhooks_reached', () => {
    const isReached = probe.isReached()
    return isReached === undefined ? undefined : Number(isReached)
  })
  return probe
}

function makeClients({ settings, log }: Context): KnownClients | undefined {
  const { webhookClientCaFile: path, webhookClientNames: names } = settings.process
  return path === undefined ? undefined : { authorities: clientAuthorities({ path, log }), names, log }
}

function makeCerts({ client, log, settings }: Context, mayRotate: () => boolean): CertSource {
  const { certDir: folder } = settings.process
  if (folder !== undefined) return mountedCertificate({ folder, log })
  return selfSigned({
    client,
    log,
    secret: { namespace: settings.process.namespace, name: names.authoritySecret },
    configurations: { mutating: names.mutatingConfiguration, validating: names.validatingConfiguration },
    lifetimes: { authorityMs: settings.process.caLifetimeMs, leafMs: settings.process.certLifetimeMs },
    mayRotate,
  })
}
