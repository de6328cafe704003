import { type ControllerDeclaration, periodicWork } from '../loop/controller.ts'
import { nodeIdentity } from './node-identity.ts'
import { watch } from '../loop/watch.ts'
import { keyOf, type Key, type Node } from '../../kube/objects.ts'
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
): ControllerDeclaration {
  const { client, machines, vendor, caches, settings } = deps
  const { nodes } = caches
  const { concurrentNodeSyncs: concurrency, nodeStatusUpdateMs: maxMs } = settings.process
  const events = deps.events.of('cloud-node-controller')
  const now = () => performance.now()
  const seen = firstSeen(now)
  nodes.onChange(seen.observe)
  const allNodes = () => nodes.list().map(keyOf)
  return {
    reconciler: nodeIdentity({
      client,
      machines,
      ids: vendor.providerIds,
      cached: { node: (name) => nodes.get(name), nodes: () => nodes.list() },
      seenAtMs: seen.at,
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
    ...periodicWork({ name: 'machine-refresh', run: refresh.run, everyMs }),
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

type FirstSeen = {
  /** A listener for the changes of a node cache. */
  observe: (name: Key, current: Node | undefined, previous: Node | undefined) => void
  /** When this process first saw the current node of this name, not an earlier one. */
  at: (name: Key) => number
}

/** Records when each node was first seen. */
export function firstSeen(now: () => number): FirstSeen {
  const seenAtMs = new Map<Key, number>()
  return {
    observe(name, current, previous) {
      if (!current) seenAtMs.delete(name)
      else if (current.metadata.uid !== previous?.metadata.uid) seenAtMs.set(name, now())
    },
    at: (name) => seenAtMs.get(name) ?? now(),
  }
}

type MachineRefreshDeps = {
  machines: MachineList
  hasNodes: () => boolean
}

type MachineRefresh = {
  run: (signal: AbortSignal) => Promise<undefined>
  /** Calls the listener after each list of the machines. */
  onChange(listener: () => void): void
}

/** Lists the machines if the cluster has nodes: a single list serves all of them. */
export function machineRefresh({ machines, hasNodes }: MachineRefreshDeps): MachineRefresh {
  const listeners: (() => void)[] = []
  return {
    onChange: (listener) => void listeners.push(listener),
    async run(signal) {
      if (!hasNodes()) return
      await machines.within(0, signal)
      for (const listener of listeners) listener()
    },
  }
}
