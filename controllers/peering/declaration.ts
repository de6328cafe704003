import type { Peering, ProjectPeering } from '../../clouds/ports/peering.ts'
import { type ControllerDeclaration, periodicWork } from '../loop/controller.ts'
import { nodePeering, peeringFieldManager } from './node-peering.ts'
import { type PeerStore, peerStore, peerStoreKey } from './peer-store.ts'
import { Unsettled, type Reconciler } from '../loop/reconciler.ts'
import { type RecentRead, recentRead } from '../../lib/recent-read.ts'
import { watch } from '../loop/watch.ts'
import { keyOf, type Key, type Node } from '../../kube/objects.ts'
import { names } from '../../settings/installed-names.ts'
import type { Dependencies } from '../dependencies.ts'
import { retryUntilAnswered } from '../../kube/connect.ts'
import { failureEvent } from '../loop/reconcile-key.ts'
import type { Log } from '../../kube/log.ts'
import { nodes } from '../../kube/resource.ts'
import { ownNames } from './node-annotations.ts'
import { CloudError } from '../../clouds/ports/cloud.ts'
import type { PeerFacts } from '../facts/peer-facts.ts'

type Deps = Pick<
  Dependencies,
  'client' | 'caches' | 'machines' | 'peerFacts' | 'vendor' | 'events' | 'metrics' | 'settings' | 'log'
>

/** How long changed facts are gathered before they are stored. */
const gatherMs = 250

const now = () => performance.now()

/** Enables BGP on the project, and on every selected node when it registers, even without Services. */
export function peeringControllers(deps: Deps): ControllerDeclaration[] {
  const { client, log, peerFacts, settings, vendor } = deps
  const { bgp, peering } = vendor
  const at = { namespace: settings.process.namespace, name: names.peersSecret }
  const store = peerStore({ client, facts: peerFacts, at, log })
  if (!peering || !bgp.isOn) {
    // Nothing is announced with BGP, so nothing must be known first.
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

/** Removes what we wrote while BGP was on, once per term. */
function leftControllers(deps: Deps, store: PeerStore): ControllerDeclaration[] {
  const { nodes } = deps.caches
  const left = { name: 'left-peers', reconcile: (_key: string, signal: AbortSignal) => store.clear(signal) }
  return [
    {
      reconciler: leftPeering(deps),
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
      // A node with known peers works, so its owner need only know about a dispute with another writer.
      if (!peerFacts.get(name) || error instanceof Unsettled) reportFailure(name, message, error)
    },
  }
}

/** Loads the stored facts, or has every node reconciled once before anything is announced. */
async function loadFacts(
  { caches, log, peerFacts }: Deps,
  { initial, store }: { initial: InitialPeering; store: PeerStore },
  signal: AbortSignal,
): Promise<void> {
  // Facts from an earlier term are stale. They are kept until now, because losing the lease is not an answer of the provider.
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

/** Keeps BGP enabled on the project, whether or not a node needs it. */
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
    // Incomplete facts would pass for complete ones after a restart.
    needs: [peerFacts],
    keys: () => [peerStoreKey],
    retry: { firstMs: 500, maxMs: 60_000 },
  }
}

/**
 * Removes our annotations about peers from nodes after BGP was turned off, because they may contain the password.
 * Another program's values under the same names are kept: a predecessor may work here.
 */
function leftPeering({ client, caches, vendor, log }: Deps): Reconciler {
  const isOwn = ownNames(vendor.bgp.annotations)
  const ownOf = ({ metadata }: Node) => Object.keys(metadata.annotations ?? {}).filter(isOwn)
  return {
    name: 'left-peering',
    async reconcile(name, signal) {
      const node = caches.nodes.get(name)
      const before = node ? ownOf(node).length : 0
      if (!node || before === 0) return {}
      // Without the uid, the apply would recreate a node that was just deleted.
      const { uid = '' } = node.metadata
      const nothing = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid, annotations: {} } }
      const written = await client.apply<Node>(nodes, nothing, { fieldManager: peeringFieldManager, signal })
      const removed = before - ownOf(written).length
      if (removed > 0) log.info({ node: name, removed }, 'BGP is off: annotations removed')
      return {}
    },
  }
}

type ProjectPeeringDeps = {
  peering: Pick<Peering, 'project' | 'enable'>
  /** The peering that the settings want. */
  wanted: ProjectPeering
  log: Log
}

/** The default of the settings, which the operator may not have chosen. */
const usualAsn = 65_000

/** Enables BGP on the project. A project with BGP keeps its own ASN and password. */
export function projectPeering({ peering, wanted, log }: ProjectPeeringDeps): (signal: AbortSignal) => Promise<void> {
  let warned: string | undefined
  return async (signal) => {
    const found = await peering.project(signal)
    if (!found) {
      await peering.enable(wanted, signal)
      log.info({ asn: wanted.asn, hasPassword: wanted.password !== undefined }, 'BGP enabled on the project')
      return
    }
    const warning = overruled(wanted, found)
    if (warning !== undefined && warning !== warned) log.warn({ warning }, 'BGP of the project')
    warned = warning
  }
}

/** Lists the settings that the project overrules, without any password. */
export function overruled(wanted: ProjectPeering, found: ProjectPeering): string | undefined {
  const isDecided = wanted.asn !== undefined && found.asn !== undefined
  const isOtherAsn = isDecided && wanted.asn !== found.asn && wanted.asn !== usualAsn
  const isOtherPassword = wanted.password !== undefined && wanted.password.reveal() !== found.password?.reveal()
  const differences = [
    ...(isOtherAsn ? [`its ASN is ${found.asn} and not ${wanted.asn}`] : []),
    ...(isOtherPassword ? [found.password ? 'its password is different' : 'it has no password'] : []),
  ]
  if (differences.length === 0) return undefined
  return `BGP was already enabled, and the project keeps its own values, not those of the settings: ${differences.join(', and ')}`
}

type InitialPeeringDeps = {
  /** Reconciles a node, and asks the provider for its peers if none are known. */
  reconciler: Reconciler
  facts: Pick<PeerFacts, 'get' | 'all' | 'markComplete'>
}

type InitialPeering = Reconciler & {
  /** Notes that no facts were stored: they are complete once each of these nodes was reconciled. */
  begin(names: Key[]): void
}

/**
 * Reconciles nodes, and declares the facts complete once the provider has answered for every node. Without stored
 * facts, a predecessor's announcements may still be active, and a missing answer must not withdraw them. A refusal
 * counts as an answer only if the provider accepted the same request for another node.
 */
export function initialPeering({ reconciler, facts }: InitialPeeringDeps): InitialPeering {
  let waiting: Set<Key> | undefined
  let isRefused = false

  const check = () => {
    if (waiting?.size !== 0 || (isRefused && facts.all().length === 0)) return
    waiting = undefined
    facts.markComplete()
  }
  const answered = (name: Key) => {
    waiting?.delete(name)
    check()
  }
  return {
    ...reconciler,
    begin(names) {
      waiting = new Set(names)
      check()
    },
    async reconcile(name, signal) {
      try {
        const outcome = await reconciler.reconcile(name, signal)
        answered(name)
        return outcome
      } catch (error) {
        if (isRefusal(error)) isRefused = true
        if (isRefusal(error) || facts.get(name)) answered(name)
        throw error
      }
    },
  }
}

/** Whether the provider is available and refused the request. */
function isRefusal(error: unknown): boolean {
  return error instanceof CloudError && error.fault !== 'unavailable' && error.fault !== 'rate-limit'
}
