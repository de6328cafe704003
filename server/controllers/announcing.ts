import type { Announcer, Problem } from '../../announcers/announcer.ts'
import { announcedAddresses, mentionsAddress } from '../../controllers/announcing/announced.ts'
import { type Announcing, announcing, announcingKey } from '../../controllers/announcing/announcing.ts'
import type { Configurator } from '../../controllers/announcing/configurator.ts'
import { configureDocument } from '../../controllers/announcing/configure-document.ts'
import { configureObjects } from '../../controllers/announcing/configure-objects.ts'
import type { ControllerDeclaration } from '../../controllers/controller.ts'
import { watch } from '../../controllers/watch.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Dependencies } from '../dependencies.ts'
import { serviceStates } from './service-states.ts'

type Deps = Pick<Dependencies, 'announcer' | 'client' | 'caches' | 'want' | 'peerFacts' | 'events' | 'log'>

/** Brings the announcing software's configuration to the addresses and peers of now; undefined where we configure none. */
export function makeAnnouncing(deps: Deps): Announcing | undefined {
  const { announcer, client, peerFacts } = deps
  const configurator = configuratorOf(client, announcer)
  const showing = (address: string) =>
    announcedAddresses(serviceStates(deps, (service) => mentionsAddress(service, address)))
      .filter((announced) => announced.address === address)
      .flatMap(({ services }) => services)
  return (
    configurator &&
    announcing({
      configurator,
      report: reporter(deps),
      showing,
      state: () => ({ addresses: announcedAddresses(serviceStates(deps)), nodes: peerFacts.all() }),
    })
  )
}

/** Configures the announcing software. */
export function announcingController(
  { caches, peerFacts, ownAddresses }: Pick<Dependencies, 'caches' | 'peerFacts' | 'ownAddresses'>,
  reconciler: Announcing,
): ControllerDeclaration {
  const { services, records } = caches
  return {
    reconciler,
    watches: [services, records, peerFacts, ownAddresses].map((source) => watch(source, () => [announcingKey])),
    needs: [services, records, peerFacts],
    keys: () => [announcingKey],
    // Repairs what somebody else did to our configuration.
    resyncMs: 60_000,
    // MetalLB may be installed long after us, and the person who installs it waits at a terminal.
    retry: { firstMs: 250, maxMs: 15_000 },
  }
}

function configuratorOf(client: KubeClient, { configuration }: Announcer): Configurator | undefined {
  if (configuration === undefined) return undefined
  return configuration.kind === 'objects'
    ? configureObjects({ client, configuration })
    : configureDocument({ client, configuration })
}

/** Reports a problem on the object that causes it, where the owner of that object reads it. */
function reporter({ announcer, events, caches, log }: Deps): (problem: Problem) => void {
  return ({ subject, message }) => {
    log.warn({ ...subject, announcer: announcer.name, error: message }, 'not announced')
    const [object, reason] =
      'service' in subject
        ? [caches.services.get(subject.service), 'SyncLoadBalancerFailed']
        : [caches.nodes.get(subject.node), 'PeeringFailed']
    if (!object) return
    const event = { type: 'Warning', reason, message: `${announcer.name}: ${message}` } as const
    events.of('service-controller').record(object, event)
  }
}
