import { runController } from '../../controllers/controller.ts'
import { nodeLifecycle } from '../../controllers/nodes/node-lifecycle.ts'
import { removalBrake } from '../../controllers/nodes/removal-brake.ts'
import { eventRecorder } from '../../kube/events.ts'
import { keyOf } from '../../kube/objects.ts'
import { queue } from '../../kube/queue.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Controller, said } from './controller.ts'

/** Follows the machines of nodes that are not ready: off, on again, gone. */
export function lifecycles(deps: Dependencies): Controller {
  const { client, identity: instance, log, machines, metrics, settings, vendor, caches } = deps
  const { concurrentNodeSyncs: concurrency, nodeMonitorMs: monitorMs } = settings.process
  const { nodeRemoval: mode, nodeRemovalDelayMs: graceMs, maxNodeRemovals: max } = settings.process
  const events = eventRecorder({ client, component: 'cloud-node-lifecycle-controller', instance, log })
  const now = () => performance.now()
  const brake = removalBrake({ max, now })
  const keys = queue({ concurrency, firstMs: monitorMs, maxMs: 12 * monitorMs, log })
  caches.nodes.onChange((name) => keys.add(name))
  metrics.gauge('nodes_without_machine', 'Nodes that are not ready and have lost their machines.', () => brake.suspects)
  const reconciler = nodeLifecycle({
    client,
    machines,
    ids: vendor.providerIds,
    cached: { node: (name) => caches.nodes.get(name), nodes: () => caches.nodes.list() },
    brake,
    event: (node, happening) => events.record(node, happening),
    log,
    now,
    monitorMs,
    graceMs,
    mode,
  })
  return {
    async run(signal) {
      await caches.nodes.synced(signal)
      for (const node of caches.nodes.list()) keys.add(keyOf(node))
      await runController({ ...said(deps), queue: keys, reconciler }, signal)
      await events.written()
    },
  }
}
