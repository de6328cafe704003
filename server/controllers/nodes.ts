import { runController } from '../../controllers/controller.ts'
import { firstSeen } from '../../controllers/nodes/first-seen.ts'
import { machineRefresh, refreshKey } from '../../controllers/nodes/machine-refresh.ts'
import { nodeIdentity } from '../../controllers/nodes/node-identity.ts'
import type { Reconciler } from '../../controllers/reconciler.ts'
import { type EventRecorder, eventRecorder } from '../../kube/events.ts'
import { type Key, keyOf } from '../../kube/objects.ts'
import { queue } from '../../kube/queue.ts'
import type { Dependencies } from '../dependencies.ts'
import { type Controller, said } from './controller.ts'

/** Says on each node which machine it is: as it comes up, and again when the machines are listed. */
export function nodes(deps: Dependencies): Controller {
  const { client, identity: instance, log, machines, settings, caches } = deps
  const { concurrentNodeSyncs: concurrency, nodeStatusUpdateMs: intervalMs } = settings.process
  const events = eventRecorder({ client, component: 'cloud-node-controller', instance, log })
  const keys = queue({ concurrency, firstMs: 500, maxMs: intervalMs, log })
  const refreshes = queue({ firstMs: 1000, maxMs: intervalMs, log })
  const lookAtAll = () => {
    for (const node of caches.nodes.list()) keys.add(keyOf(node))
  }
  const identity = makeIdentity(deps, events)
  caches.nodes.onChange((name) => keys.add(name))
  const hasNodes = () => caches.nodes.list().length > 0
  const refresh = machineRefresh({ machines, intervalMs, hasNodes, look: lookAtAll })
  const complain = complainer(deps, events)
  return {
    async run(signal) {
      await caches.nodes.synced(signal)
      refreshes.add(refreshKey)
      lookAtAll()
      await Promise.all([
        runController({ ...said(deps), queue: refreshes, reconciler: refresh }, signal),
        runController({ ...said(deps), queue: keys, reconciler: identity, complain }, signal),
      ])
      await events.written()
    },
  }
}

function makeIdentity({ client, machines, vendor, caches }: Dependencies, events: EventRecorder): Reconciler {
  const seen = firstSeen(() => performance.now())
  caches.nodes.onChange(seen.heard)
  return nodeIdentity({
    client,
    machines,
    ids: vendor.providerIds,
    cached: { node: (name) => caches.nodes.get(name), nodes: () => caches.nodes.list() },
    seenAtMs: seen.at,
    event: (node, happening) => events.record(node, happening),
  })
}

function complainer({ caches }: Dependencies, events: EventRecorder): (key: Key, message: string) => void {
  return (name, problem) => {
    const node = caches.nodes.get(name)
    const message = `Error syncing node: ${problem}`
    if (node) events.record(node, { type: 'Warning', reason: 'SyncNodeFailed', message })
  }
}
