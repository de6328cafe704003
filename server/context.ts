import type { Announcer } from '../announcers/announcer.ts'
import { announcerOf } from '../announcers/announcers.ts'
import { type Base, createBase } from './base.ts'
import { clusterId } from '../ledger/cluster.ts'
import type { ServeSettings } from '../commands/settings/serve.ts'
import { howToTurnOn } from '../ledger/want/load-balancing-off.ts'
import { awaitPathSecret } from '../webhooks/webhook-path.ts'
import type { ServeDeps } from '../commands/command-deps.ts'

/** The parts that webhooks and controllers need to run at all. */
export type Context = Base & {
  announcer: Announcer
  /** The id of the cluster, as written in the marks of its reservations. */
  cluster: string
  /** The first segment of the webhooks' paths, as of the start. */
  pathSecret: string
}

/** Connects to the API server and reads which cluster it serves. */
export async function createContext(settings: ServeSettings, deps: ServeDeps): Promise<Context> {
  const { version, signal } = deps
  const base = await createBase(settings, deps)
  const { client, log, vendor, identity } = base
  const { namespace } = settings.process
  const [cluster, pathSecret] = await Promise.all([
    clusterId({ client, configured: settings.cluster.clusterId, namespace, log, signal }),
    awaitPathSecret(client, { namespace, log, signal }),
  ])
  const announcer = announcerOf(vendor.loadBalancer, vendor.announcerMarks)
  log.info({ version, identity, cluster, cloud: vendor.cloud.name }, 'starting')
  if (!vendor.policy.loadBalancing) log.warn({}, `load balancing is off: no Service gets an address; ${howToTurnOn}`)
  return { ...base, announcer, cluster, pathSecret }
}
