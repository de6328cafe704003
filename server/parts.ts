import type { CertSource } from '../certs/cert-source.ts'
import { selfSigned } from '../certs/self-signed.ts'
import type { Service } from '../kube/objects.ts'
import { want } from '../ledger/want.ts'
import { names } from '../manifests/names.ts'
import type { Webhook } from '../webhooks/webhook.ts'
import { announcerOf } from './announcers.ts'
import { makeControllers } from './controllers.ts'
import type { Ground } from './ground.ts'
import { type KnownLocations, knownLocations } from './known-locations.ts'
import { type Leadership, leadership } from './leadership.ts'
import { type Ledger, makeLedger } from './ledger.ts'
import { type Views, makeViews } from './views.ts'
import { makeWebhooks } from './webhooks.ts'

export type Parts = {
  views: Views
  locations: KnownLocations
  ledger: Ledger
  /** Absent with --only=controllers. */
  webhooks: Webhook[] | undefined
  /** Absent with --only=webhooks. */
  leadership: Leadership | undefined
  certs: CertSource
}

/** Puts the rooms together; nothing runs yet. */
export function assemble(ground: Ground): Parts {
  const { settings, client, vendor, log, metrics } = ground
  const { process: own, cloud } = settings
  const { unboundGraceMs, sweepIntervalMs, onCloudFailure, cloudTimeoutMs } = cloud.settings
  const { namespace } = own
  const views = makeViews(client, log)
  const locations = knownLocations(vendor.cloud, log)
  const wants = (service: Service) => want(service, vendor.policy, locations.current())
  const ledger = makeLedger({ ...ground, namespace, cloudTimeoutMs, want: wants })
  const controllers = makeControllers({
    ...ground,
    ledger,
    views,
    want: wants,
    announcer: announcerOf(vendor.loadBalancer, log),
    graceMs: unboundGraceMs,
    sweepIntervalMs,
    concurrency: own.concurrentServiceSyncs,
  })
  const known = () => locations.current()
  const leader = leadership(ground, (signal) => controllers.run(signal))
  metrics.gauge('leader', 'Whether this replica runs the controllers.', () => Number(leader.isLeader()))
  return {
    views,
    locations,
    ledger,
    webhooks:
      own.only === 'controllers'
        ? undefined
        : makeWebhooks({ ledger, policy: vendor.policy, locations: known, onCloudFailure, namespace }),
    leadership: own.only === 'webhooks' ? undefined : leader,
    certs: selfSigned({
      client,
      log,
      secret: { namespace, name: names.authoritySecret },
      configurations: { mutating: names.mutatingConfiguration, validating: names.validatingConfiguration },
      mayRotate: () => own.only === 'webhooks' || leader.isLeader(),
    }),
  }
}
