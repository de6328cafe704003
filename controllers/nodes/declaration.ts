import { type ControllerDeclaration, periodicWork } from '../loop/controller.ts'
import { nodeIdentity } from './node-identity.ts'
import { watch } from '../loop/watch.ts'
import { keyOf } from '../../kube/objects.ts'
import { sights } from '../../lib/sights.ts'
import type { Dependencies, MachineList } from '../dependencies.ts'
import { failureEvent } from '../loop/reconcile-key.ts'
import { recordName, secondKeys } from '../../ledger/record/elastic-ip.ts'
import { nodeLifecycle } from './node-lifecycle.ts'
import { removalLimit } from './removal-limit.ts'

type Deps = Pick<
  Dependencies,
  'client' | 'caches' | 'machines' | 'ownAddresses' | 'vendor' | 'events' | 'metrics' | 'settings' | 'log'
>

/** Identifies the machine of each node: when the node registers, and after each list of the machines. */
export function nodeIdentityController(
  deps: Omit<Deps, 'metrics' | 'log'>,
  refresh: MachineRefresh,
  now = () => performance.now(),
): ControllerDeclaration {
  const { client, machines, vendor, caches, settings } = deps
  const { nodes } = caches
  const { concurrentNodeSyncs: concurrency, nodeStatusUpdateMs: maxMs } = settings.process
  const events = deps.events.of('cloud-node-controller')
  const seen = sights(now)
  nodes.onChange((name, node) => void seen.forMs(name, node?.metadata.uid))
  const allNodes = () => nodes.list().map(keyOf)
  return {
    reconciler: nodeIdentity({
      client,
      machines,
      ids: vendor.providerIds,
      cached: { node: (name) => nodes.get(name), nodes: () => nodes.list() },
      seenForMs: ({ metadata: { name, uid } }) => seen.forMs(name, uid),
      now,
      serviceWith: (address) => recordedService(deps, address),
      event: (node, event) => events.record(node, event),
    }),
    watches: [watch(nodes, (name) => [name]), watch(refresh, allNodes)],
    // While another replica led, it wrote newer addresses than our earlier list has.
    prepare: async () => machines.forget(),
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

/** The Service whose record has the address. A Service's mere request proves nothing. */
function recordedService({ caches, ownAddresses }: Pick<Deps, 'caches' | 'ownAddresses'>, address: string) {
  const keys = ownAddresses.users(address).map(keyOf)
  return keys.find((key) =>
    [key, ...secondKeys(key)].some((one) => caches.records.get(recordName(one))?.status?.address === address),
  )
}

/** Lists the machines periodically, so that a settled node costs no call of its own. */
export function machineRefreshController(
  { caches, settings }: Pick<Dependencies, 'caches' | 'settings'>,
  refresh: MachineRefresh,
): ControllerDeclaration {
  const { nodeStatusUpdateMs: everyMs } = settings.process
  return {
    ...periodicWork({ name: 'machine-refresh', run: (signal) => refresh.run(signal), everyMs }),
    needs: [caches.nodes],
    retry: { firstMs: 1000, maxMs: everyMs },
  }
}

/** Follows the machines of nodes that are not ready: off, on again, deleted. */
export function nodeLifecycleController(
  deps: Omit<Deps, 'ownAddresses'>,
  now = () => performance.now(),
): ControllerDeclaration {
  const { client, log, machines, metrics, settings, vendor } = deps
  const { nodes } = deps.caches
  const { concurrentNodeSyncs: concurrency, nodeMonitorMs: monitorMs } = settings.process
  const { nodeRemoval: mode, nodeRemovalDelayMs: graceMs, maxNodeRemovals: max } = settings.process
  const events = deps.events.of('cloud-node-lifecycle-controller')
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
    // While another replica led, this one did not observe the machines.
    prepare: async () => limit.restartAll(),
    needs: [nodes],
    keys: () => nodes.list().map(keyOf),
    concurrency,
    retry: { firstMs: monitorMs, maxMs: 12 * monitorMs },
  }
}

type MachineRefresh = ReturnType<typeof machineRefresh>

/** Lists the machines if the cluster has nodes: a single list serves all of them. */
export function machineRefresh({ machines, hasNodes }: { machines: MachineList; hasNodes: () => boolean }) {
  const listeners: (() => void)[] = []
  return {
    /** Calls the listener after each list of the machines. */
    onChange: (listener: () => void) => void listeners.push(listener),
    async run(signal: AbortSignal): Promise<undefined> {
      if (!hasNodes()) return
      await machines.within(0, signal)
      for (const listener of listeners) listener()
    },
  }
}
