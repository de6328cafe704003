import { runController } from '../../controllers/controller.ts'
import { nodeLifecycle } from '../../controllers/nodes/node-lifecycle.ts'
import { removalBrake } from '../../controllers/nodes/removal-brake.ts'
import { eventRecorder } from '../../kube/events.ts'
import { keyOf } from '../../kube/objects.ts'
import { queue } from '../../kube/queue.ts'
import type { World } from '../world.ts'
import { type Controller, said } from './controller.ts'

/** Follows the machines of nodes that are not ready: off, on again, gone. */
export function lifecycles(world: World): Controller {
  const { client, identity: instance, log, machines, metrics, settings, vendor, views } = world
  const { concurrentNodeSyncs: concurrency, nodeMonitorMs: monitorMs } = settings.process
  const { nodeRemoval: mode, nodeRemovalDelayMs: graceMs, mostNodeRemovals: most } = settings.process
  const events = eventRecorder({ client, component: 'cloud-node-lifecycle-controller', instance, log })
  const now = () => performance.now()
  const brake = removalBrake({ most, now })
  const keys = queue({ concurrency, firstMs: monitorMs, mostMs: 12 * monitorMs, log })
  views.nodes.onChange((name) => keys.add(name))
  metrics.gauge('nodes_without_machine', 'Nodes that are not ready and have lost their machines.', () => brake.suspects)
  const reconciler = nodeLifecycle({
    client,
    machines,
    ids: vendor.providerIds,
    cached: { node: (name) => views.nodes.get(name), nodes: () => views.nodes.list() },
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
      await views.nodes.synced(signal)
      for (const node of views.nodes.list()) keys.add(keyOf(node))
      await runController({ ...said(world), queue: keys, reconciler }, signal)
      await events.written()
    },
  }
}
