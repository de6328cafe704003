import type { Machine, ProviderIds } from '../../clouds/ports/machines.ts'
import type { Node } from '../../kube/objects.ts'
import { canonicalIpAddress, isUnspecified } from '../../lib/ip-address.ts'
import { providedNodeIps } from './node-ips.ts'
import { readProviderId } from './provider-id.ts'

export type Search = {
  /** Every machine of the project. */
  machines: Machine[]
  /** Every node of the cluster: no two nodes have one machine. */
  nodes: Node[]
  ids: ProviderIds
}

/** One machine, or the problem that keeps us from choosing one. */
export type FoundMachine = { machine: Machine } | { problem: string }

/** Finds the machine of a node without a providerID: by its addresses, else by its name. It never guesses among several. */
export function findMachine(node: Node, search: Search): FoundMachine {
  const addresses = addressesOf(node)
  const { name } = node.metadata
  const byAddress = search.machines.filter((machine) => hasAnyOf(machine, addresses))
  const byName = (machines: Machine[]) => machines.filter((machine) => machine.name === name)
  // Separate private networks can repeat a private address. The name then has to decide.
  const found = byAddress.length > 1 ? byName(byAddress) : byAddress
  if (byAddress.length > 1 && found.length !== 1) return ambiguous(byAddress, `an address of node ${name}`, search)
  const candidates = found.length > 0 ? found : byName(search.machines)
  const [machine] = candidates
  if (!machine) return { problem: notFound(name, addresses, search) }
  if (candidates.length > 1) return ambiguous(candidates, `the name ${name}`, search)
  const other = otherNodeOf(machine, node, search)
  return other === undefined ? { machine } : { problem: `machine ${machine.id} already belongs to node ${other}` }
}

/** Machines that have the node's name and belong to no other node: they may replace the machine of the node. */
export function findNamesakes(node: Node, search: Search): Machine[] {
  const { name } = node.metadata
  return search.machines.filter((machine) => machine.name === name && otherNodeOf(machine, node, search) === undefined)
}

/** Says that a machine was replaced by another one of the same name, and what to do. */
export function replacementText(node: Node, id: string, others: Machine[]): string {
  const { name } = node.metadata
  const now = others.map((machine) => machine.id).join(' and ')
  return (
    `machine ${id} does not exist any more, but ${now} has the name ${name} too. The providerID of a node cannot be ` +
    `changed: if ${name} runs on ${now} now, delete the node (kubectl delete node ${name}) and restart its kubelet, ` +
    'which registers the node again'
  )
}

function otherNodeOf({ id }: Machine, node: Node, { nodes, ids }: Search): string | undefined {
  const other = nodes.find(({ metadata, spec }) => {
    const providerId = readProviderId(spec.providerID, ids)
    return metadata.name !== node.metadata.name && providerId.kind === 'machine' && providerId.id === id
  })
  return other?.metadata.name
}

function addressesOf(node: Node): Set<string> {
  const shown = (node.status?.addresses ?? []).filter(({ type }) => type === 'InternalIP' || type === 'ExternalIP')
  const all = [...providedNodeIps(node), ...shown.map(({ address }) => canonicalIpAddress(address) ?? address)]
  return new Set(all.filter((address) => !isUnspecified(address)))
}

/** An elastic address identifies no machine, because it moves. */
function hasAnyOf({ addresses }: Machine, wanted: Set<string>): boolean {
  return addresses.some(({ address, isElastic }) => !isElastic && wanted.has(canonicalIpAddress(address) ?? address))
}

function ambiguous(machines: Machine[], what: string, { ids }: Search): FoundMachine {
  const list = machines.map(({ id }) => id).join(', ')
  return {
    problem: `${machines.length} machines have ${what}: ${list}. ${remedy(ids)}, or rename the others`,
  }
}

function notFound(name: string, addresses: Set<string>, { ids }: Search): string {
  const known = addresses.size === 0 ? '' : `one of the addresses ${[...addresses].join(', ')} or `
  return (
    `no machine has ${known}the name ${name}. Give the machine that name, or ${remedy(ids, 'start')}. ` +
    'If the node runs elsewhere, the cloud provider of that place has to initialize it'
  )
}

function remedy({ scheme }: ProviderIds, start: 'Start' | 'start' = 'Start'): string {
  return `${start} the kubelet with --provider-id=${scheme}://<id of its machine>`
}
