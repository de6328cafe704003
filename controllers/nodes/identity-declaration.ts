import type { ControllerDeclaration } from '../loop/controller.ts'
import { firstSeen } from './first-seen.ts'
import type { MachineRefresh } from './machine-refresh.ts'
import { nodeIdentity } from './node-identity.ts'
import { periodicWork } from '../loop/periodic-work.ts'
import { watch } from '../loop/watch.ts'
import { keyOf } from '../../kube/objects.ts'
import type { Dependencies } from '../dependencies.ts'
import { failureEvent } from '../loop/failure-event.ts'

type Deps = Pick<Dependencies, 'client' | 'caches' | 'machines' | 'vendor' | 'events' | 'settings'>

/** Writes on each node which machine it is: when the node comes up, and whenever the machines were listed. */
export function nodeIdentityController(deps: Deps, refresh: MachineRefresh): ControllerDeclaration {
  const { client, machines, vendor, caches, settings } = deps
  const { nodes } = caches
  const { concurrentNodeSyncs: concurrency, nodeStatusUpdateMs: maxMs } = settings.process
  const events = deps.events.of('cloud-node-controller')
  const seen = firstSeen(() => performance.now())
  nodes.onChange(seen.observe)
  const allNodes = () => nodes.list().map(keyOf)
  return {
    reconciler: nodeIdentity({
      client,
      machines,
      ids: vendor.providerIds,
      cached: { node: (name) => nodes.get(name), nodes: () => nodes.list() },
      seenAtMs: seen.at,
      event: (node, event) => events.record(node, event),
    }),
    watches: [watch(nodes, (name) => [name]), watch(refresh, allNodes)],
    needs: [nodes],
    keys: allNodes,
    concurrency,
    retry: { firstMs: 500, maxMs },
    report: failureEvent({
      events,
      find: (name) => nodes.get(name),
      reason: 'SyncNodeFailed',
      prefix: 'Error syncing node: ',
    }),
  }
}

/** Lists the machines regularly, so that no settled node costs a call of its own. */
export function machineRefreshController(
  { caches, settings }: Pick<Dependencies, 'caches' | 'settings'>,
  refresh: MachineRefresh,
): ControllerDeclaration {
  const { nodeStatusUpdateMs: everyMs } = settings.process
  return {
    ...periodicWork({ name: 'machine-refresh', run: refresh.run, everyMs }),
    needs: [caches.nodes],
    retry: { firstMs: 1000, maxMs: everyMs },
  }
}
