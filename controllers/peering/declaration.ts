import type { Peering } from '../../clouds/ports/peering.ts'
import type { ControllerDeclaration } from '../loop/controller.ts'
import { type InitialPeering, initialPeering } from './initial-peering.ts'
import { leftPeering } from './left-peering.ts'
import { nodePeering } from './node-peering.ts'
import { type PeerStore, peerStore, peerStoreKey } from './peer-store.ts'
import { projectPeering } from './project-peering.ts'
import { Unsettled } from '../loop/reconciler.ts'
import { type RecentRead, recentRead } from '../../lib/recent-read.ts'
import { periodicWork } from '../loop/periodic-work.ts'
import { watch } from '../loop/watch.ts'
import { keyOf } from '../../kube/objects.ts'
import { names } from '../../settings/installed-names.ts'
import type { Dependencies } from '../dependencies.ts'
import { retryUntilAnswered } from '../../kube/retry-until-answered.ts'
import { failureEvent } from '../loop/failure-event.ts'

type Deps = Pick<
  Dependencies,
  'client' | 'caches' | 'machines' | 'peerFacts' | 'vendor' | 'events' | 'metrics' | 'settings' | 'log'
>

/** How long changed facts are gathered before they are stored. */
const gatherMs = 250

const now = () => performance.now()

/** BGP on the project and on every selected node as it comes up, whether or not there are Services. */
export function peeringControllers(deps: Deps): ControllerDeclaration[] {
  const { client, log, peerFacts, settings, vendor } = deps
  const { bgp, peering } = vendor
  const at = { namespace: settings.process.namespace, name: names.peersSecret }
  const store = peerStore({ client, facts: peerFacts, at, log })
  if (!peering || !bgp.isOn) {
    // Nothing is announced by BGP, so nothing has to be known first.
    peerFacts.markComplete()
    return peering ? leftControllers(deps, store) : []
  }
  const project = recentRead({ read: projectPeering({ peering, wanted: bgp.project, log }), now })
  const initial = initialPeering({ reconciler: makeNodePeering(deps, peering, project), facts: peerFacts })
  return [
    nodePeeringController(deps, { initial, store }),
    projectPeeringController(deps, project),
    peerStoreController(deps, store),
  ]
}

/** Removes what we wrote while BGP was on, once in each term. */
function leftControllers({ client, caches, vendor, log }: Deps, store: PeerStore): ControllerDeclaration[] {
  const { nodes } = caches
  const scheme = vendor.bgp.annotations
  const left = { name: 'left-peers', reconcile: (_key: string, signal: AbortSignal) => store.clear(signal) }
  return [
    {
      reconciler: leftPeering({ client, cached: { node: (name) => nodes.get(name) }, scheme, log }),
      needs: [nodes],
      keys: () => nodes.list().map(keyOf),
      retry: { firstMs: 1_000 },
    },
    { reconciler: left, keys: () => [peerStoreKey], retry: { firstMs: 1_000, maxMs: 60_000 } },
  ]
}

function nodePeeringController(
  deps: Deps,
  { initial, store }: { initial: InitialPeering; store: PeerStore },
): ControllerDeclaration {
  const { events, metrics, peerFacts, settings } = deps
  const { nodes } = deps.caches
  metrics.read('eip_admission_nodes_with_peers', () => {
    return peerFacts.all().filter((node) => node.peers.length > 0).length
  })
  const reportFailure = failureEvent({
    events: events.of('node-peering'),
    find: (name) => nodes.get(name),
    reason: 'PeeringFailed',
    prefix: 'Error setting up BGP: ',
  })
  return {
    reconciler: initial,
    watches: [watch(nodes, (name) => [name])],
    prepare: (signal) => loadFacts(deps, { initial, store }, signal),
    needs: [nodes],
    keys: () => [...nodes.list().map(keyOf), ...peerFacts.all().map(({ node }) => node)],
    concurrency: settings.process.concurrentNodeSyncs,
    retry: { firstMs: 1000 },
    report(name, message, error) {
      // While its peers are known, a node works: only another writer on it is the owner's concern.
      if (!peerFacts.get(name) || error instanceof Unsettled) reportFailure(name, message, error)
    },
  }
}

/** Reads the facts that were stored, or has every node reconciled once before anything is announced. */
async function loadFacts(
  { caches, log, peerFacts }: Deps,
  { initial, store }: { initial: InitialPeering; store: PeerStore },
  signal: AbortSignal,
): Promise<void> {
  // Facts of an earlier leadership are old. They stay until now because an end of leadership is no answer of the cloud.
  peerFacts.reset()
  await caches.nodes.synced(signal)
  const isLoaded = await retryUntilAnswered(() => store.load(signal), { what: 'the stored BGP peers', log, signal })
  if (isLoaded) peerFacts.markComplete()
  else initial.begin(caches.nodes.list().map(keyOf))
}

function makeNodePeering(deps: Deps, peering: Peering, project: RecentRead<void>) {
  const { client, log, machines, peerFacts, settings, vendor, caches } = deps
  return nodePeering({
    client,
    cached: { node: (name) => caches.nodes.get(name) },
    ids: vendor.providerIds,
    selector: vendor.bgp.selector,
    scheme: vendor.bgp.annotations,
    project,
    enabled: recentRead({ read: (signal) => peering.machines(signal), now }),
    peering,
    machines,
    facts: peerFacts,
    refreshMs: settings.cluster.peerRefreshMs,
    now,
    log,
  })
}

/** BGP on the project, whether or not a node needs it. */
export function projectPeeringController(
  { settings }: { settings: { cluster: { peerRefreshMs: number } } },
  project: RecentRead<void>,
): ControllerDeclaration {
  const { peerRefreshMs: everyMs } = settings.cluster
  return {
    ...periodicWork({
      name: 'project-peering',
      async run(signal) {
        await project.within(everyMs, signal)
        return undefined
      },
      everyMs,
    }),
    retry: { firstMs: 1000 },
  }
}

/** Stores the facts for the next start. */
function peerStoreController({ peerFacts }: Deps, store: PeerStore): ControllerDeclaration {
  return {
    reconciler: store,
    watches: [watch(peerFacts, () => [peerStoreKey], gatherMs)],
    // Half of the facts would pass for all of them after a restart.
    needs: [peerFacts],
    keys: () => [peerStoreKey],
    retry: { firstMs: 500, maxMs: 60_000 },
  }
}
