import type { Machine } from '../../clouds/machines.ts'
import type { KubeClient } from '../../kube/client.ts'
import { isConflict } from '../../kube/errors.ts'
import type { Log } from '../../kube/log.ts'
import type { Key, Node } from '../../kube/objects.ts'
import { nodes } from '../../kube/resource.ts'
import type { Outcome, Reconciler } from '../reconciler.ts'
import { type LifecycleStep, planMissing, planPresent, reasonToKeep } from './lifecycle-plan.ts'
import type { MachineList } from './machine-list.ts'
import { type ProviderIds, readProviderId } from './provider-id.ts'
import type { RemovalBrake } from './removal-brake.ts'
import { isReady, isShutDown, shutdownTaints } from './taints.ts'

type Reason = 'DeletingNode' | 'DeletingNodeFailed' | 'NodeNotDeleted'

export type NodeLifecycleDeps = {
  client: Pick<KubeClient, 'get' | 'patch' | 'remove'>
  cached: { node: (name: Key) => Node | undefined; nodes: () => Node[] }
  machines: MachineList
  ids: ProviderIds
  brake: RemovalBrake
  event: (node: Node, said: { type: 'Normal' | 'Warning'; reason: Reason; message: string }) => void
  log: Log
  now: () => number
  /** How often the machine of a node that is not ready is looked at; more rarely the longer that lasts. */
  monitorMs: number
  /** How long the cloud has to say that a machine is gone. */
  graceMs: number
  mode: 'delete' | 'report'
}

/** With more nodes than these away, one list costs less than a call for each. */
const manyAway = 10
/** A node that is kept for a person is told of again, and looked at again, this often. */
const keptMs = 300_000

/** A node that is not ready, and when its machine was looked at. */
type Away = { uid: string | undefined; sinceMs: number; lookedAtMs: number | undefined }
type Look = { node: Node; id: string; seen: Away; isOneOfMany: boolean }

/** Marks nodes whose machines are off and deletes those whose machines are gone. One that is ready costs no call. */
export function nodeLifecycle(deps: NodeLifecycleDeps): Reconciler {
  const away = new Map<Key, Away>()
  return {
    name: 'node-lifecycle',
    async reconcile(name, signal) {
      const node = deps.cached.node(name)
      const said = readProviderId(node?.spec.providerID, deps.ids)
      const isOurs = node && !node.metadata.deletionTimestamp && said.kind === 'machine'
      if (!isOurs || isReady(node)) {
        away.delete(name)
        deps.brake.cleared(name)
        if (isOurs && isShutDown(node)) await mark(deps, node, false)
        return {}
      }
      const seen = awaySince(away, node, deps.now())
      const restMs = (seen.lookedAtMs ?? -Infinity) + deps.monitorMs - deps.now()
      if (restMs > 0) return { againInMs: restMs }
      return look(deps, { node, id: said.id, seen, isOneOfMany: away.size > manyAway }, signal)
    },
  }
}

function awaySince(away: Map<Key, Away>, { metadata: { name, uid } }: Node, now: number): Away {
  const known = away.get(name)
  if (known && known.uid === uid) return known
  const first = { uid, sinceMs: now, lookedAtMs: undefined }
  away.set(name, first)
  return first
}

async function look(deps: NodeLifecycleDeps, at: Look, signal: AbortSignal): Promise<Outcome> {
  const { node, id, seen } = at
  const { name } = node.metadata
  seen.lookedAtMs = deps.now()
  try {
    const machine = await machineNow(deps, at, signal)
    const step = machine ? planPresent(node, machine) : await planGone(deps, { node, id }, signal)
    if (machine) deps.brake.cleared(name)
    return (step && (await carryOut(deps, step, node))) ?? { againInMs: patience(deps, seen) }
  } catch (error) {
    // Any doubt, and what was seen before counts no more.
    deps.brake.doubted(name)
    throw error
  }
}

function patience({ monitorMs, now }: NodeLifecycleDeps, { sinceMs }: Away): number {
  return Math.min(Math.max((now() - sinceMs) / 2, monitorMs), 12 * monitorMs)
}

async function machineNow(
  { machines, monitorMs }: NodeLifecycleDeps,
  { id, isOneOfMany }: Look,
  signal: AbortSignal,
): Promise<Machine | undefined> {
  const list = isOneOfMany ? await machines.within(monitorMs, signal) : []
  const found = list.find((machine) => machine.id === id)
  return found && found.state !== 'unknown' ? found : machines.machine(id, signal)
}

/** The machine has just been said not to exist: the same key has to show that it sees the others. */
async function planGone(
  deps: NodeLifecycleDeps,
  { node, id }: { node: Node; id: string },
  signal: AbortSignal,
): Promise<LifecycleStep> {
  const { brake, ids, graceMs, mode } = deps
  const { name, uid } = node.metadata
  const machines = await deps.machines.within(deps.monitorMs, signal)
  if (machines.some((machine) => machine.id === id)) {
    throw new Error(`the cloud says that machine ${id} does not exist, and lists it`)
  }
  const nodesNow = deps.cached.nodes()
  const why = reasonToKeep({ node, id, machines, nodes: nodesNow, ids })
  if (why !== undefined) {
    brake.doubted(name)
    return { do: 'keep', why }
  }
  const ours = nodesNow.filter(({ spec }) => readProviderId(spec.providerID, ids).kind === 'machine')
  return planMissing({
    node,
    id,
    goneForMs: brake.missed({ name, uid }),
    graceMs,
    mode,
    brake: { allows: () => brake.allows(ours.length), going: () => brake.going },
  })
}

async function carryOut(deps: NodeLifecycleDeps, step: LifecycleStep, node: Node): Promise<Outcome | undefined> {
  switch (step.do) {
    case 'mark':
      await mark(deps, node, step.isOff)
      return undefined
    case 'wait':
      return { againInMs: step.ms }
    case 'keep':
      deps.log.warn({ node: node.metadata.name, why: step.why }, 'node not deleted')
      deps.event(node, { type: 'Warning', reason: 'NodeNotDeleted', message: `Not deleted: ${step.why}` })
      return { againInMs: keptMs }
    case 'remove':
      await remove(deps, node)
      return {}
  }
}

/** Taints are a list that others write too, so they are written onto the list that was read. */
async function mark({ client, log }: NodeLifecycleDeps, node: Node, isOff: boolean): Promise<void> {
  const { name } = node.metadata
  const live = await client.get(nodes, { name })
  if (live?.metadata.uid !== node.metadata.uid || !live || isShutDown(live) === isOff) return
  const { resourceVersion } = live.metadata
  const merge = { metadata: { resourceVersion }, spec: { taints: shutdownTaints(live, isOff) } }
  await client.patch(nodes, { name, patch: { merge } })
  log.info({ node: name, isOff }, 'machine switched')
}

/** Deletes the node that was judged, as it was then: if it is ready by now, or another one of that name, it stays. */
async function remove({ client, brake, event, log }: NodeLifecycleDeps, node: Node): Promise<void> {
  const { name, uid } = node.metadata
  const live = await client.get(nodes, { name })
  if (!live || live.metadata.uid !== uid || isReady(live)) return brake.cleared(name)
  const message = `Deleting node ${name} because it does not exist in the cloud provider`
  event(live, { type: 'Normal', reason: 'DeletingNode', message })
  try {
    await client.remove(nodes, { name, uid, resourceVersion: live.metadata.resourceVersion })
  } catch (error) {
    if (!isConflict(error)) {
      const said = error instanceof Error ? error.message : String(error)
      event(live, { type: 'Warning', reason: 'DeletingNodeFailed', message: `Deleting node ${name}: ${said}` })
    }
    throw error
  }
  brake.removed(name)
  log.info({ node: name, providerID: live.spec.providerID }, 'node deleted: its machine is gone')
}
