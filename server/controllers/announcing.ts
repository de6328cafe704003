import type { Announcer, Concern, Problem } from '../../announcers/announcer.ts'
import { type Shown, announcedAddresses } from '../../controllers/announced.ts'
import { type Announcing, announcing, announcingKey } from '../../controllers/announcing.ts'
import type { Configurator } from '../../controllers/configurator.ts'
import { configureDocument } from '../../controllers/configure-document.ts'
import { configureObjects } from '../../controllers/configure-objects.ts'
import { runController } from '../../controllers/controller.ts'
import type { KubeClient } from '../../kube/client.ts'
import { keyOf } from '../../kube/objects.ts'
import { queue } from '../../kube/queue.ts'
import { recordName } from '../../ledger/elastic-ip.ts'
import type { World } from '../world.ts'
import { type Controller, said } from './controller.ts'

export type Announcements = Controller & Pick<Announcing, 'holds'>

const resyncMs = 60_000
/** MetalLB may be installed long after us, and whoever waits for it looks at the terminal. */
const mostMs = 15_000

/** Tells the announcing software which addresses there are and whom the nodes speak with. */
export function announcements(world: World): Announcements {
  const { announcer, client, log, views, peerFacts } = world
  const configurator = configuratorOf(client, announcer)
  if (!configurator) return { run: () => Promise.resolve(), holds: () => Promise.resolve(undefined) }
  const keys = queue({ firstMs: 250, mostMs, log })
  const look = () => keys.add(announcingKey)
  for (const view of [views.services, views.records]) view.onChange(look)
  peerFacts.onChange(look)
  const reconciler = announcing({
    configurator,
    resyncMs,
    complain: complainer(world),
    state: () => ({ addresses: announcedAddresses(shown(world)), nodes: peerFacts.all() }),
  })
  return {
    holds: (address, signal) => reconciler.holds(address, signal),
    async run(signal) {
      await Promise.all([views.services.synced(signal), views.records.synced(signal), peerFacts.loaded(signal)])
      look()
      await runController({ ...said(world), queue: keys, reconciler }, signal)
    },
  }
}

function configuratorOf(client: KubeClient, { configuration }: Announcer): Configurator | undefined {
  if (configuration === undefined) return undefined
  return configuration.kind === 'objects'
    ? configureObjects({ client, configuration })
    : configureDocument({ client, configuration })
}

/** Every Service with what it wants and what it has, by our copies of the cluster. */
export function shown({ views, want }: World): Shown[] {
  return views.services.list().map((service) => {
    return { service, wanted: want(service), record: views.records.get(recordName(keyOf(service))) }
  })
}

/** Whoever has to do something about it reads it on the object that is to blame. */
function complainer({ announcer, events, views, log }: World): (problem: Problem) => void {
  const objectOf = (concern: Concern) =>
    'service' in concern ? views.services.get(concern.service) : views.nodes.get(concern.node)
  return ({ concern, message }) => {
    log.warn({ ...concern, announcer: announcer.name, error: message }, 'not announced')
    const object = objectOf(concern)
    const reason = 'service' in concern ? 'SyncLoadBalancerFailed' : 'PeeringFailed'
    if (object) events.record(object, { type: 'Warning', reason, message: `${announcer.name}: ${message}` })
  }
}
