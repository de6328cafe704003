import { runController } from '../../controllers/controller.ts'
import { firstSeen } from '../../controllers/nodes/first-seen.ts'
import { machineRefresh, refreshKey } from '../../controllers/nodes/machine-refresh.ts'
import { nodeIdentity } from '../../controllers/nodes/node-identity.ts'
import type { Reconciler } from '../../controllers/reconciler.ts'
import { type EventRecorder, eventRecorder } from '../../kube/events.ts'
import { type Key, keyOf } from '../../kube/objects.ts'
import { queue } from '../../kube/queue.ts'
import type { World } from '../world.ts'
import { type Controller, said } from './controller.ts'

/** Says on each node which machine it is: as it comes up, and again when the machines are listed. */
export function nodes(world: World): Controller {
  const { client, identity: instance, log, machines, settings, views } = world
  const { concurrentNodeSyncs: concurrency, nodeStatusUpdateMs: intervalMs } = settings.process
  const events = eventRecorder({ client, component: 'cloud-node-controller', instance, log })
  const keys = queue({ concurrency, firstMs: 500, mostMs: intervalMs, log })
  const refreshes = queue({ firstMs: 1000, mostMs: intervalMs, log })
  const lookAtAll = () => {
    for (const node of views.nodes.list()) keys.add(keyOf(node))
  }
  const identity = makeIdentity(world, events)
  views.nodes.onChange((name) => keys.add(name))
  const hasNodes = () => views.nodes.list().length > 0
  const refresh = machineRefresh({ machines, intervalMs, hasNodes, look: lookAtAll })
  const complain = complainer(world, events)
  return {
    async run(signal) {
      await views.nodes.synced(signal)
      refreshes.add(refreshKey)
      lookAtAll()
      await Promise.all([
        runController({ ...said(world), queue: refreshes, reconciler: refresh }, signal),
        runController({ ...said(world), queue: keys, reconciler: identity, complain }, signal),
      ])
      await events.written()
    },
  }
}

function makeIdentity({ client, machines, vendor, views }: World, events: EventRecorder): Reconciler {
  const seen = firstSeen(() => performance.now())
  views.nodes.onChange(seen.heard)
  return nodeIdentity({
    client,
    machines,
    ids: vendor.providerIds,
    cached: { node: (name) => views.nodes.get(name), nodes: () => views.nodes.list() },
    seenAtMs: seen.at,
    event: (node, happening) => events.record(node, happening),
  })
}

function complainer({ views }: World, events: EventRecorder): (key: Key, message: string) => void {
  return (name, problem) => {
    const node = views.nodes.get(name)
    const message = `Error syncing node: ${problem}`
    if (node) events.record(node, { type: 'Warning', reason: 'SyncNodeFailed', message })
  }
}
