import type { Machine } from '../../clouds/machines.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Key, Node } from '../../kube/objects.ts'
import { nodes } from '../../kube/resource.ts'
import { type Reconciler, Terminal } from '../reconciler.ts'
import { findMachine, namesakes, replaced } from './find-machine.ts'
import type { MachineList } from './machine-list.ts'
import { type NodeStep, planNode } from './node-plan.ts'
import { type ProviderIds, readProviderId } from './provider-id.ts'
import { isReady, isUninitialized } from './taints.ts'

export type NodeIdentityDeps = {
  client: Pick<KubeClient, 'get' | 'patch'>
  cached: { node: (name: Key) => Node | undefined; nodes: () => Node[] }
  machines: MachineList
  /** When a node was first seen. */
  seenAtMs: (name: Key) => number
  ids: ProviderIds
  event: (node: Node, said: { type: 'Normal'; reason: 'Synced'; message: string }) => void
}

/** How old a list may be that a machine is looked for in. */
const freshMs = 10_000
/** Whoever was not found is looked for in another list, unless that was asked for just now. */
const newestMs = 2_000

/** More than any node needs: beyond it another writer undoes ours. */
const maxSteps = 4

/** Writes on a node which machine it is; a kubelet that waits for that may then take pods. */
export function nodeIdentity(deps: NodeIdentityDeps): Reconciler {
  return {
    name: 'node-identity',
    async reconcile(name, signal) {
      const glance = deps.cached.node(name)
      if (!glance || glance.metadata.deletionTimestamp) return {}
      const machine = await machineOf(deps, glance, signal)
      if (!machine || !planNode(glance, machine, deps.ids)) return {}
      let node = await deps.client.get(nodes, { name }, { signal })
      // Deleted and registered anew: the machine was that of another node, and this one is looked at by itself.
      if (node?.metadata.uid !== glance.metadata.uid) return {}
      for (let steps = 0; node && steps < maxSteps; steps += 1) {
        const step = planNode(node, machine, deps.ids)
        if (!step) return {}
        node = await carryOut(deps, step, node)
      }
      return { againInMs: 60_000 }
    },
  }
}

/** The machine of a node; undefined where the node is not ours, or there is nothing to do for it now. */
async function machineOf(deps: NodeIdentityDeps, node: Node, signal: AbortSignal): Promise<Machine | undefined> {
  const said = readProviderId(node.spec.providerID, deps.ids)
  const isNew = isUninitialized(node)
  if (said.kind === 'foreign' || (said.kind === 'nothing' && !isNew)) return undefined
  if (said.kind === 'unreadable') {
    throw new Terminal(
      `its providerID ${node.spec.providerID} is not that of a machine: its kubelet was told a wrong one`,
    )
  }
  if (said.kind === 'machine') return knownMachine(deps, { node, id: said.id }, signal)
  return unknownMachine(deps, node, signal)
}

/** A providerID is for ever, and names and addresses pass on: what is older than the node has to be confirmed. */
async function unknownMachine(deps: NodeIdentityDeps, node: Node, signal: AbortSignal): Promise<Machine> {
  const { machines, cached, ids } = deps
  const find = (among: Machine[]) => findMachine(node, { machines: among, nodes: cached.nodes(), ids })
  const list = await machines.listing(freshMs, signal)
  const found = find(list.machines)
  if ('machine' in found) {
    if (list.askedAtMs >= deps.seenAtMs(node.metadata.name)) return found.machine
    const now = await machines.machine(found.machine.id, signal)
    if (now && 'machine' in find([now])) return now
  }
  const again = find(await machines.within(newestMs, signal))
  if ('problem' in again) throw new Error(again.problem)
  return again.machine
}

/** A settled node costs nothing: what is known of its machine is renewed for all nodes at once. */
async function knownMachine(
  deps: NodeIdentityDeps,
  { node, id }: { node: Node; id: string },
  signal: AbortSignal,
): Promise<Machine | undefined> {
  const { machines, cached, ids } = deps
  const listed = isUninitialized(node) ? await machines.within(freshMs, signal) : machines.latest()
  if (!listed) return undefined
  // Where the list lags, or the machine is in another project, the id still says which it is.
  const machine = listed.find((one) => one.id === id) ?? (await machines.machine(id, signal))
  return machine ?? withoutMachine(node, id, namesakes(node, { machines: listed, nodes: cached.nodes(), ids }))
}

function withoutMachine(node: Node, id: string, others: Machine[]): undefined {
  if (others.length > 0) throw new Terminal(replaced(node, id, others))
  // One that is not ready is deleted soon, elsewhere.
  if (isReady(node) || isUninitialized(node)) throw new Terminal(`its machine ${id} does not exist`)
}

async function carryOut({ client, event }: NodeIdentityDeps, step: NodeStep, node: Node): Promise<Node> {
  const { name, resourceVersion } = node.metadata
  if (step.do === 'set-addresses') {
    const merge = { metadata: { resourceVersion }, status: { addresses: step.addresses } }
    return client.patch(nodes, { name, patch: { merge } }, { subresource: 'status' })
  }
  const { labels, do: _identify, ...spec } = step
  const merge = { metadata: { resourceVersion, labels }, spec }
  const written = await client.patch(nodes, { name, patch: { merge } })
  if (step.taints) event(written, { type: 'Normal', reason: 'Synced', message: 'Node synced successfully' })
  return written
}
