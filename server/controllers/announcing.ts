import type { Announcer, Subject, Problem } from '../../announcers/announcer.ts'
import { type Shown, announcedAddresses } from '../../controllers/announcing/announced.ts'
import { type Announcing, announcing, announcingKey } from '../../controllers/announcing/announcing.ts'
import type { Configurator } from '../../controllers/announcing/configurator.ts'
import { configureDocument } from '../../controllers/announcing/configure-document.ts'
import { configureObjects } from '../../controllers/announcing/configure-objects.ts'
import { runController } from '../../controllers/controller.ts'
import type { KubeClient } from '../../kube/client.ts'
import { keyOf } from '../../kube/objects.ts'
import { queue } from '../../kube/queue.ts'
import { recordName } from '../../ledger/record/elastic-ip.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Controller, said } from './controller.ts'

export type Announcements = Controller & Pick<Announcing, 'holds'>

const resyncMs = 60_000
/** MetalLB may be installed long after us, and whoever waits for it looks at the terminal. */
const maxMs = 15_000

/** Tells the announcing software which addresses there are and whom the nodes speak with. */
export function announcements(deps: Dependencies): Announcements {
  const { announcer, client, log, caches, peerFacts } = deps
  const configurator = configuratorOf(client, announcer)
  if (!configurator) return { run: () => Promise.resolve(), holds: () => Promise.resolve(undefined) }
  const keys = queue({ firstMs: 250, maxMs, log })
  const look = () => keys.add(announcingKey)
  for (const cache of [caches.services, caches.records]) cache.onChange(look)
  peerFacts.onChange(look)
  const reconciler = announcing({
    configurator,
    resyncMs,
    complain: complainer(deps),
    state: () => ({ addresses: announcedAddresses(shown(deps)), nodes: peerFacts.all() }),
  })
  return {
    holds: (address, signal) => reconciler.holds(address, signal),
    async run(signal) {
      await Promise.all([caches.services.synced(signal), caches.records.synced(signal), peerFacts.loaded(signal)])
      look()
      await runController({ ...said(deps), queue: keys, reconciler }, signal)
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
export function shown({ caches, want }: Dependencies): Shown[] {
  return caches.services.list().map((service) => {
    return { service, wanted: want(service), record: caches.records.get(recordName(keyOf(service))) }
  })
}

/** Whoever has to do something about it reads it on the object that is to blame. */
function complainer({ announcer, events, caches, log }: Dependencies): (problem: Problem) => void {
  const objectOf = (subject: Subject) =>
    'service' in subject ? caches.services.get(subject.service) : caches.nodes.get(subject.node)
  return ({ subject, message }) => {
    log.warn({ ...subject, announcer: announcer.name, error: message }, 'not announced')
    const object = objectOf(subject)
    const reason = 'service' in subject ? 'SyncLoadBalancerFailed' : 'PeeringFailed'
    if (object) events.record(object, { type: 'Warning', reason, message: `${announcer.name}: ${message}` })
  }
}
