import type { Machine } from '../../clouds/machines.ts'
import type { Node } from '../../kube/objects.ts'
import { canonicalIpAddress, isUnspecified } from '../../lib/ip-address.ts'
import { providedNodeIps } from './node-ips.ts'
import { type ProviderIds, readProviderId } from './provider-id.ts'

export type Search = {
  /** Every machine that there is. */
  machines: Machine[]
  /** Every node that there is: a machine that another one runs on is not to be had. */
  nodes: Node[]
  ids: ProviderIds
}

/** One machine, or in words why it cannot be said which. */
export type Found = { machine: Machine } | { problem: string }

/** The machine of a node that does not say its id: by its addresses, else by its name. Never a guess between several. */
export function findMachine(node: Node, search: Search): Found {
  const addresses = addressesOf(node)
  const { name } = node.metadata
  const byAddress = search.machines.filter((machine) => hasAnyOf(machine, addresses))
  const byName = (machines: Machine[]) => machines.filter((machine) => machine.name === name)
  // Private addresses repeat where private networks are apart: then the name has to say which.
  const found = byAddress.length > 1 ? byName(byAddress) : byAddress
  if (byAddress.length > 1 && found.length !== 1) return several(byAddress, `an address of node ${name}`, search)
  const candidates = found.length > 0 ? found : byName(search.machines)
  const [machine] = candidates
  if (!machine) return { problem: nothing(name, addresses, search) }
  if (candidates.length > 1) return several(candidates, `the name ${name}`, search)
  const holder = holderOf(machine, node, search)
  return holder === undefined ? { machine } : { problem: `machine ${machine.id} is already that of node ${holder}` }
}

/** Other machines that have the node's name and run no other node: what a machine was replaced by. */
export function namesakes(node: Node, search: Search): Machine[] {
  const { name } = node.metadata
  return search.machines.filter((machine) => machine.name === name && holderOf(machine, node, search) === undefined)
}

/** What a person is told whose machine was replaced by another one of the same name. */
export function replaced(node: Node, id: string, others: Machine[]): string {
  const { name } = node.metadata
  const now = others.map((machine) => machine.id).join(' and ')
  return (
    `machine ${id} does not exist any more, but ${now} has the name ${name} too. The providerID of a node cannot be ` +
    `changed: if ${name} runs on ${now} now, delete the node (kubectl delete node ${name}) and restart its kubelet, ` +
    'which registers it anew'
  )
}

function holderOf({ id }: Machine, node: Node, { nodes, ids }: Search): string | undefined {
  const holder = nodes.find(({ metadata, spec }) => {
    const said = readProviderId(spec.providerID, ids)
    return metadata.name !== node.metadata.name && said.kind === 'machine' && said.id === id
  })
  return holder?.metadata.name
}

function addressesOf(node: Node): Set<string> {
  const shown = (node.status?.addresses ?? []).filter(({ type }) => type === 'InternalIP' || type === 'ExternalIP')
  const all = [...providedNodeIps(node), ...shown.map(({ address }) => canonicalIpAddress(address) ?? address)]
  return new Set(all.filter((address) => !isUnspecified(address)))
}

/** An elastic address says nothing: it is another machine's tomorrow. */
function hasAnyOf({ addresses }: Machine, wanted: Set<string>): boolean {
  return addresses.some(({ address, isElastic }) => !isElastic && wanted.has(canonicalIpAddress(address) ?? address))
}

function several(machines: Machine[], what: string, { ids }: Search): Found {
  const list = machines.map(({ id }) => id).join(', ')
  return {
    problem: `${machines.length} machines have ${what}: ${list}. ${telling(ids)}, or rename the others`,
  }
}

function nothing(name: string, addresses: Set<string>, { ids }: Search): string {
  const known = addresses.size === 0 ? '' : `one of the addresses ${[...addresses].join(', ')} or `
  return (
    `no machine has ${known}the name ${name}. Give the machine that name, or ${telling(ids).toLowerCase()}; ` +
    'if the node runs elsewhere, this is for its own cloud provider'
  )
}

function telling({ scheme }: ProviderIds): string {
  return `Start the kubelet with --provider-id=${scheme}://<id of its machine>`
}
