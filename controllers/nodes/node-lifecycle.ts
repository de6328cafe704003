import type { Machine, ProviderIds } from '../../clouds/ports/machines.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isConflict } from '../../kube/errors.ts'
import type { Log } from '../../kube/log.ts'
import { type Key, type Node, keyOf } from '../../kube/objects.ts'
import { nodes } from '../../kube/resource.ts'
import { errorText } from '../loop/reconcile-key.ts'
import { type Outcome, type Reconciler, keepKeys } from '../loop/reconciler.ts'
import { type LifecycleStep, planMissing, planPresent, reasonToKeep } from './lifecycle-plan.ts'
import type { MachineList } from '../dependencies.ts'
import { machineIdOf } from './node-machine.ts'
import type { RemovalLimit } from './removal-limit.ts'
import { isReady, isShutDown, shutdownTaints } from './taints.ts'

type Reason = 'DeletingNode' | 'DeletingNodeFailed' | 'NodeNotDeleted'

export type NodeLifecycleDeps = {
  client: Pick<KubeClient, 'get' | 'patch' | 'remove'>
  cached: { node: (name: Key) => Node | undefined; nodes: () => Node[] }
  machines: MachineList
  ids: ProviderIds
  limit: RemovalLimit
  event: (node: Node, event: { type: 'Normal' | 'Warning'; reason: Reason; message: string }) => void
  log: Log
  now: () => number
  /** How often we check the machine of a node that is not ready; less often as time passes. */
  monitorMs: number
  /** How long the provider must say that a machine does not exist. */
  graceMs: number
  mode: 'delete' | 'report'
}

/** If more nodes than this are not ready, one list costs less than a call for each. */
const manyNotReady = 10
/** How often we check, and report, a node that is kept until an operator acts. */
const keptMs = 300_000

/** How long a node has not been ready, and when we last checked its machine. */
type NotReady = { uid: string | undefined; sinceMs: number; checkedAtMs: number | undefined }
type Check = { node: Node; id: string; notReady: NotReady; isOneOfMany: boolean }

/** Taints nodes whose machines are off and deletes those whose machines no longer exist. A ready node costs no call. */
export function nodeLifecycle(deps: NodeLifecycleDeps): Reconciler {
  const notReady = new Map<Key, NotReady>()
  return {
    name: 'node-lifecycle',
    keepOnly(existing) {
      keepKeys(notReady, existing)
      deps.limit.keepOnly(existing)
    },
    async reconcile(name, signal) {
      const node = deps.cached.node(name)
      const id = node && !node.metadata.deletionTimestamp ? machineIdOf(node, deps.ids) : undefined
      if (!node || id === undefined || isReady(node)) {
        notReady.delete(name)
        deps.limit.clear(name)
        if (node && id !== undefined && isShutDown(node)) await setShutdownTaint(deps, node, false)
        return {}
      }
      const entry = entryOf(notReady, node, deps.now())
      const restMs = (entry.checkedAtMs ?? -Infinity) + deps.monitorMs - deps.now()
      if (restMs > 0) return { againInMs: restMs }
      const isOneOfMany = notReady.size > manyNotReady
      return check(deps, { node, id, notReady: entry, isOneOfMany }, signal)
    },
  }
}

function entryOf(notReady: Map<Key, NotReady>, { metadata: { name, uid } }: Node, now: number): NotReady {
  const known = notReady.get(name)
  if (known && known.uid === uid) return known
  const first = { uid, sinceMs: now, checkedAtMs: undefined }
  notReady.set(name, first)
  return first
}

async function check(deps: NodeLifecycleDeps, of: Check, signal: AbortSignal): Promise<Outcome> {
  const { node, id, notReady } = of
  const { name } = node.metadata
  notReady.checkedAtMs = deps.now()
  try {
    const machine = await readMachine(deps, of, signal)
    const step = machine ? planPresent(node, machine) : await planWithoutMachine(deps, { node, id }, signal)
    if (machine) deps.limit.clear(name)
    return (step && (await carryOut(deps, step, node))) ?? { againInMs: intervalMs(deps, notReady) }
  } catch (error) {
    // After an error the time restarts: the provider may have been wrong before.
    deps.limit.restart(name)
    throw error
  }
}

function intervalMs({ monitorMs, now }: NodeLifecycleDeps, { sinceMs }: NotReady): number {
  return Math.min(Math.max((now() - sinceMs) / 2, monitorMs), 12 * monitorMs)
}

async function readMachine(
  { machines, monitorMs }: NodeLifecycleDeps,
  { id, isOneOfMany }: Check,
  signal: AbortSignal,
): Promise<Machine | undefined> {
  const list = isOneOfMany ? await machines.within(monitorMs, signal) : []
  const found = list.find((machine) => machine.id === id)
  return found && found.state !== 'unknown' ? found : machines.machine(id, signal)
}

/** The provider just said that the machine does not exist. The same API key must prove that it sees the others. */
async function planWithoutMachine(
  deps: NodeLifecycleDeps,
  { node, id }: { node: Node; id: string },
  signal: AbortSignal,
): Promise<LifecycleStep> {
  const { limit, ids, graceMs, mode } = deps
  const { name, uid } = node.metadata
  const machines = await deps.machines.within(deps.monitorMs, signal)
  if (machines.some((machine) => machine.id === id)) {
    throw new Error(`the provider says that machine ${id} does not exist, but lists it`)
  }
  const nodesNow = deps.cached.nodes()
  const reason = reasonToKeep({ node, id, machines, nodes: nodesNow, ids })
  if (reason !== undefined) {
    limit.restart(name)
    return { do: 'keep', reason }
  }
  limit.keepOnly(new Set(nodesNow.map(keyOf)))
  const ours = nodesNow.filter((one) => machineIdOf(one, ids) !== undefined)
  return planMissing({
    node,
    id,
    goneForMs: limit.recordMissing({ name, uid }),
    graceMs,
    mode,
    limit: { canRemove: () => limit.canRemove(ours.length), total: () => limit.total },
  })
}

async function carryOut(deps: NodeLifecycleDeps, step: LifecycleStep, node: Node): Promise<Outcome | undefined> {
  switch (step.do) {
    case 'taint':
      await setShutdownTaint(deps, node, step.isOff)
      return undefined
    case 'wait':
      return { againInMs: step.ms }
    case 'keep':
      deps.log.warn({ node: node.metadata.name, reason: step.reason }, 'node not deleted')
      deps.event(node, { type: 'Warning', reason: 'NodeNotDeleted', message: `Not deleted: ${step.reason}` })
      return { againInMs: keptMs }
    case 'remove':
      await remove(deps, node)
      return {}
  }
}

/** Other programs write taints, too, so we change the list that was just read. */
async function setShutdownTaint({ client, log }: NodeLifecycleDeps, node: Node, isOff: boolean): Promise<void> {
  const { name } = node.metadata
  const live = await client.get(nodes, { name })
  if (live?.metadata.uid !== node.metadata.uid || !live || isShutDown(live) === isOff) return
  const { resourceVersion } = live.metadata
  const merge = { metadata: { resourceVersion }, spec: { taints: shutdownTaints(live, isOff) } }
  await client.patch(nodes, { name, patch: { merge } })
  log.info({ node: name, isOff }, isOff ? 'machine is off: node tainted' : 'machine is on again: taint removed')
}

/** Deletes the node that was checked, unless it is ready now or another node has its name. */
async function remove({ client, limit, event, log }: NodeLifecycleDeps, node: Node): Promise<void> {
  const { name, uid } = node.metadata
  const live = await client.get(nodes, { name })
  if (!live || live.metadata.uid !== uid || isReady(live)) return limit.clear(name)
  const message = `Deleting node ${name} because it does not exist in the cloud provider`
  event(live, { type: 'Normal', reason: 'DeletingNode', message })
  try {
    await client.remove(nodes, { name, uid, resourceVersion: live.metadata.resourceVersion })
  } catch (error) {
    if (!isConflict(error)) {
      const message = `Deleting node ${name}: ${errorText(error)}`
      event(live, { type: 'Warning', reason: 'DeletingNodeFailed', message })
    }
    throw error
  }
  limit.recordRemoval(name)
  log.info({ node: name, providerID: live.spec.providerID }, 'node deleted: its machine no longer exists')
}
