import type { Machine, ProviderIds } from '../../clouds/ports/machines.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Key, Node } from '../../kube/objects.ts'
import { nodes } from '../../kube/resource.ts'
import { type Reconciler, Terminal, runSteps } from '../loop/reconciler.ts'
import { findMachine, findNamesakes, replacementText } from './node-machine.ts'
import type { MachineList } from '../dependencies.ts'
import { type NodeStep, impossibleLabels, planNode } from './node-plan.ts'
import { readProviderId } from './provider-id.ts'
import { isReady, isUninitialized } from './taints.ts'

export type NodeIdentityDeps = {
  client: Pick<KubeClient, 'get' | 'patch'>
  cached: { node: (name: Key) => Node | undefined; nodes: () => Node[] }
  machines: MachineList
  /** How long this process has seen this very node, not an earlier one of its name. */
  seenForMs: (node: Node) => number
  now: () => number
  ids: ProviderIds
  /** The Service to which the ledger gave an address. */
  serviceWith: (address: string) => Key | undefined
  event: (node: Node, event: NodeEvent) => void
}

type NodeEvent = {
  type: 'Normal' | 'Warning'
  reason: 'Synced' | 'ServiceAddressOnNode' | 'LabelNotPossible'
  message: string
}

/** The maximum age of a list in which we search for a machine. */
const freshMs = 10_000
/** After a doubtful answer, the maximum age of the list for a second decision. */
const newestMs = 2_000

/** More writes than any node needs. */
const maxSteps = 4

/** Records on a node which machine it is. A kubelet that waits for this then accepts pods. */
export function nodeIdentity(deps: NodeIdentityDeps): Reconciler {
  return {
    name: 'node-identity',
    async reconcile(name, signal) {
      const cached = deps.cached.node(name)
      if (!cached || cached.metadata.deletionTimestamp) return {}
      warnOfServiceAddresses(deps, cached)
      const machine = await machineOf(deps, cached, signal)
      if (!machine) return {}
      warnOfLabels(deps, cached, machine)
      if (!planNode(cached, machine, deps.ids)) return {}
      const live = await deps.client.get(nodes, { name }, { signal })
      // A node that was deleted and registered again, or was identified meanwhile, may have another machine.
      if (!live || live.metadata.uid !== cached.metadata.uid) return {}
      if (live.spec.providerID !== cached.spec.providerID) return {}
      let node = live
      const carryOutOn = async (step: NodeStep) => {
        node = await carryOut(deps, step, node)
        return undefined
      }
      const plan = (seen: Node) => ({ step: planNode(seen, machine, deps.ids) })
      return runSteps({ look: () => node, plan, carryOut: carryOutOn, maxSteps }, signal)
    },
  }
}

/** A kubelet that uses a Service's address as its own loses it when the address is released or moves. */
function warnOfServiceAddresses({ serviceWith, event }: NodeIdentityDeps, node: Node): void {
  for (const { type, address } of node.status?.addresses ?? []) {
    const service = serviceWith(address)
    if (service === undefined) continue
    const what = `${type} ${address} of the node is the address of Service ${service}, which moves and is released with it`
    const remedy = "set its kubelet's --node-ip to an address of the machine"
    event(node, { type: 'Warning', reason: 'ServiceAddressOnNode', message: `${what}: ${remedy}` })
  }
}

function warnOfLabels({ event }: NodeIdentityDeps, node: Node, machine: Machine): void {
  for (const [name, value] of impossibleLabels(node, machine)) {
    const what = `the provider returns ${JSON.stringify(value)} for the label ${name}, which is not a valid label value`
    const remedy = `set the label yourself if Pods need it: kubectl label node ${node.metadata.name} ${name}=...`
    event(node, { type: 'Warning', reason: 'LabelNotPossible', message: `${what}: ${remedy}` })
  }
}

/** The machine of a node; undefined if the node is not ours, or needs nothing now. */
async function machineOf(deps: NodeIdentityDeps, node: Node, signal: AbortSignal): Promise<Machine | undefined> {
  const providerId = readProviderId(node.spec.providerID, deps.ids)
  const isNew = isUninitialized(node)
  if (providerId.kind === 'foreign' || (providerId.kind === 'absent' && !isNew)) return undefined
  if (providerId.kind === 'invalid') {
    throw new Terminal(
      `its providerID ${node.spec.providerID} does not belong to a machine: correct its kubelet's --provider-id, ` +
        `delete the node (kubectl delete node ${node.metadata.name}) and restart the kubelet`,
    )
  }
  if (providerId.kind === 'machine') return knownMachine(deps, { node, id: providerId.id }, signal)
  return unknownMachine(deps, node, signal)
}

/**
 * A providerID is permanent, while names and addresses move to other machines. So only a list that began after the node
 * was seen decides, and a doubtful answer is decided again with a new list.
 */
async function unknownMachine(deps: NodeIdentityDeps, node: Node, signal: AbortSignal): Promise<Machine> {
  const { machines, cached, ids, now } = deps
  const sinceMs = now() - deps.seenForMs(node)
  const find = async (maxAgeMs: number) => {
    const listed = await machines.since(Math.max(sinceMs, now() - maxAgeMs), signal)
    return findMachine(node, { machines: listed, nodes: cached.nodes(), ids })
  }
  const found = await find(freshMs)
  const again = 'machine' in found ? found : await find(newestMs)
  if ('problem' in again) throw new Error(again.problem)
  return again.machine
}

/** A settled node costs no call, because one list refreshes the machines of all nodes. */
async function knownMachine(
  deps: NodeIdentityDeps,
  { node, id }: { node: Node; id: string },
  signal: AbortSignal,
): Promise<Machine | undefined> {
  const { machines, cached, ids } = deps
  const listed = isUninitialized(node) ? await machines.within(freshMs, signal) : machines.latest()
  if (!listed) return undefined
  // The list may lag, or the machine may be in another project, but a read by id still finds it.
  const machine = listed.find((one) => one.id === id) ?? (await machines.machine(id, signal))
  return machine ?? withoutMachine(node, id, findNamesakes(node, { machines: listed, nodes: cached.nodes(), ids }))
}

function withoutMachine(node: Node, id: string, others: Machine[]): undefined {
  if (others.length > 0) throw new Terminal(replacementText(node, id, others))
  // If the node is not ready, the lifecycle controller deletes it.
  if (isReady(node) || isUninitialized(node)) throw new Terminal(`its machine ${id} does not exist`)
}

async function carryOut({ client, event }: NodeIdentityDeps, step: NodeStep, node: Node): Promise<Node> {
  const { name, resourceVersion } = node.metadata
  if (step.do === 'set-addresses') {
    const merge = { metadata: { resourceVersion }, status: { addresses: step.addresses } }
    return client.patch(nodes, { name, patch: { merge } }, { subresource: 'status' })
  }
  const { labels, do: _do, ...spec } = step
  const merge = { metadata: { resourceVersion, labels }, spec }
  const written = await client.patch(nodes, { name, patch: { merge } })
  if (step.taints) event(written, { type: 'Normal', reason: 'Synced', message: 'Node synced successfully' })
  return written
}
