import type { Peering } from '../../clouds/peering.ts'
import { runController } from '../../controllers/controller.ts'
import { type FirstRound, firstRound } from '../../controllers/peering/first-round.ts'
import { nodePeering } from '../../controllers/peering/node-peering.ts'
import { type PeerMemory, memoryKey, peerMemory } from '../../controllers/peering/peer-memory.ts'
import { projectKey, projectPeering, projectRefresh } from '../../controllers/peering/project-peering.ts'
import { type SharedAnswer, sharedAnswer } from '../../controllers/shared-answer.ts'
import { eventRecorder } from '../../kube/events.ts'
import { type Key, keyOf } from '../../kube/objects.ts'
import { queue } from '../../kube/queue.ts'
import { names } from '../../manifests/names.ts'
import { retryUntilAnswered } from '../retry-until-answered.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Controller, said } from './controller.ts'

/** How long changes are gathered before all that is known is kept. */
const gatherMs = 250

const now = () => performance.now()

/** BGP on the project and on every selected node as it comes up, whether or not there are Services. */
export function peerings(deps: Dependencies): Controller {
  const { client, log, peerFacts, settings, vendor, caches } = deps
  const { bgp, peering } = vendor
  // Nobody announces by BGP, so there is nothing to wait for.
  if (!peering || !bgp.isOn) return { run: async () => peerFacts.ready() }
  const at = { namespace: settings.process.namespace, name: names.peersSecret }
  const memory = peerMemory({ client, facts: peerFacts, at, log })
  const project = sharedAnswer({ ask: projectPeering({ peering, wanted: bgp.project, log }), now })
  const round = firstRound({ reconciler: makeNodePeering(deps, peering, project), facts: peerFacts })
  const controllers = [projects(deps, project), memories(deps, memory), peers(deps, round)]
  return {
    async run(signal) {
      // What we know of an earlier term is old. Not forgotten at its end: nobody may take it for an answer.
      peerFacts.forget()
      await caches.nodes.synced(signal)
      const isKnown = await retryUntilAnswered(() => memory.recall(signal), {
        what: 'the peers that were kept',
        log,
        signal,
      })
      if (isKnown) peerFacts.ready()
      else round.begin(caches.nodes.list().map(keyOf))
      await Promise.all(controllers.map((part) => part.run(signal)))
    },
  }
}

function makeNodePeering(deps: Dependencies, peering: Peering, project: SharedAnswer<void>) {
  const { client, log, machines, peerFacts, settings, vendor, caches } = deps
  return nodePeering({
    client,
    cached: { node: (name) => caches.nodes.get(name) },
    ids: vendor.providerIds,
    selector: vendor.bgp.selector,
    scheme: vendor.bgp.annotations,
    project,
    enabled: sharedAnswer({ ask: (signal) => peering.machines(signal), now }),
    peering,
    machines,
    facts: peerFacts,
    refreshMs: settings.cloud.settings.peerRefreshMs,
    now,
    log,
  })
}

/** BGP on the project, which no node need be there for. */
function projects(deps: Dependencies, project: SharedAnswer<void>): Controller {
  const { peerRefreshMs: refreshMs } = deps.settings.cloud.settings
  const keys = queue({ firstMs: 1000, log: deps.log })
  const reconciler = projectRefresh({ project, refreshMs })
  return {
    async run(signal) {
      keys.add(projectKey)
      await runController({ ...said(deps), queue: keys, reconciler }, signal)
    },
  }
}

function memories(deps: Dependencies, memory: PeerMemory): Controller {
  const { log, peerFacts } = deps
  const keys = queue({ firstMs: 500, maxMs: 60_000, log })
  peerFacts.onChange(() => keys.addAfter(memoryKey, gatherMs))
  return {
    async run(signal) {
      await peerFacts.loaded(signal)
      keys.add(memoryKey)
      await runController({ ...said(deps), queue: keys, reconciler: memory }, signal)
    },
  }
}

function peers(deps: Dependencies, round: FirstRound): Controller {
  const { client, identity: instance, log, metrics, peerFacts, settings, caches } = deps
  const events = eventRecorder({ client, component: 'node-peering', instance, log })
  const keys = queue({ concurrency: settings.process.concurrentNodeSyncs, firstMs: 1000, log })
  caches.nodes.onChange((name) => keys.add(name))
  metrics.gauge('nodes_with_peers', 'Nodes whose BGP peers are known.', () => {
    return peerFacts.all().filter((node) => node.peers.length > 0).length
  })
  const complain = (name: Key, problem: string) => {
    const node = caches.nodes.get(name)
    // Where peers are known already nothing is amiss on the node.
    if (!node || peerFacts.get(name)) return
    events.record(node, { type: 'Warning', reason: 'PeeringFailed', message: `Error setting up BGP: ${problem}` })
  }
  return {
    async run(signal) {
      const known = peerFacts.all().map(({ node }) => node)
      for (const name of [...caches.nodes.list().map(keyOf), ...known]) keys.add(name)
      await runController({ ...said(deps), queue: keys, reconciler: round, complain }, signal)
      await events.written()
    },
  }
}
