import type { ControllerDeclaration } from '../loop/controller.ts'
import { nodeLifecycle } from './node-lifecycle.ts'
import { removalLimit } from './removal-limit.ts'
import { watch } from '../loop/watch.ts'
import { keyOf } from '../../kube/objects.ts'
import type { Dependencies } from '../dependencies.ts'

type Deps = Pick<Dependencies, 'client' | 'caches' | 'machines' | 'vendor' | 'events' | 'metrics' | 'settings' | 'log'>

/** Follows the machines of nodes that are not ready: off, on again, deleted. */
export function nodeLifecycleController(deps: Deps): ControllerDeclaration {
  const { client, log, machines, metrics, settings, vendor } = deps
  const { nodes } = deps.caches
  const { concurrentNodeSyncs: concurrency, nodeMonitorMs: monitorMs } = settings.process
  const { nodeRemoval: mode, nodeRemovalDelayMs: graceMs, maxNodeRemovals: max } = settings.process
  const events = deps.events.of('cloud-node-lifecycle-controller')
  const now = () => performance.now()
  const limit = removalLimit({ max, now })
  metrics.read('eip_admission_nodes_without_machine', () => limit.missing)
  return {
    reconciler: nodeLifecycle({
      client,
      machines,
      ids: vendor.providerIds,
      cached: { node: (name) => nodes.get(name), nodes: () => nodes.list() },
      limit,
      event: (node, event) => events.record(node, event),
      log,
      now,
      monitorMs,
      graceMs,
      mode,
    }),
    watches: [watch(nodes, (name) => [name])],
    needs: [nodes],
    keys: () => nodes.list().map(keyOf),
    concurrency,
    retry: { firstMs: monitorMs, maxMs: 12 * monitorMs },
  }
}
