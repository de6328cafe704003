// Which machine is this node? All code asks here. A providerID decides, because it can never change. A node without one
// is compared with all machines of the project. The terms of the table:
// - Named: the machine has exactly the name of the node.
// - Public address: a public address of the machine is one of the node's. No other machine has it.
// - Private address: the same for a private one. Another private network may reuse it, so it never overrules a name.
// - Akin: the names are equal whatever the case, or one is the other's host name, which ends at its first dot.
// An elastic address counts for nothing, because it moves.
//
//   named    | public address        | private address       | answer
//   ---------+-----------------------+-----------------------+------------------------------------
//   one      | no machine            | no machine            | the named one
//   one      | the named one         |                       | the named one
//   one      | no machine            | also the named one    | the named one
//   one      | another one           |                       | ambiguous
//   one      | no machine            | others only           | ambiguous
//   several  | one of them           |                       | that one
//   several  | no machine            | one of them           | that one
//   several  | none or several      | none or several       | ambiguous
//   none     | one                   |                       | that one
//   none     | several               |                       | ambiguous
//   none     | no machine            | one that is akin      | that one
//   none     | no machine            | several that are akin | ambiguous
//   none     | no machine            | none that is akin     | not found, says who has the address
//   none     | no machine            | no machine            | not found
//
// Several Node objects can name one machine: a node was renamed, or a kubelet has the wrong providerID. The machine is one
// candidate all the same, and one of the objects speaks for it: none that is being deleted or was renamed. Of the others
// it is the one with the machine's name. Else it is one that is not ready, because the machine may be dead, or the oldest.
import type { Machine, ProviderIds } from '../../clouds/ports/machines.ts'
import type { Node } from '../../kube/objects.ts'
import { compareRanks } from '../moves/move-plan.ts'
import { canonicalIpAddress, isUnspecified } from '../../lib/ip-address.ts'
import { providedNodeIps } from './node-addresses.ts'
import { readProviderId } from './provider-id.ts'
import { isReady } from './taints.ts'

export type Search = {
  /** Every machine of the project. */
  machines: Machine[]
  /** Every node of the cluster: no two nodes share a machine. */
  nodes: Node[]
  ids: ProviderIds
}

/** A machine, or the problem that prevents a choice. */
export type FoundMachine = { machine: Machine } | { problem: string }

/** The id of a node's machine according to its providerID; undefined if that names no machine of this provider. Pure. */
export function machineIdOf({ spec }: Pick<Node, 'spec'>, ids: ProviderIds): string | undefined {
  const read = readProviderId(spec.providerID, ids)
  return read.kind === 'machine' ? read.id : undefined
}

/** Finds the machine of a node without a providerID, by the first table. It never guesses. Pure. */
export function findMachine(node: Node, search: Search): FoundMachine {
  const { machines, ids } = search
  const evidence = evidenceFor(node, machines)
  const { named, holders, isPublic } = evidence
  const agreeing = holders.filter((machine) => named.includes(machine))
  const akin = isPublic ? holders : holders.filter(({ name }) => isAkin(name, node.metadata.name))
  const candidates = named.length === 0 ? akin : holders.length === 0 ? named : agreeing
  const [machine, ...others] = candidates
  if (!machine && named.length === 0) return { problem: notFound(node, holders, ids) }
  if (!machine || others.length > 0) return { problem: ambiguous(node, evidence, ids) }
  const other = otherNodeOf(machine, node, search)
  return other === undefined ? { machine } : { problem: `machine ${machine.id} already belongs to node ${other}` }
}

/** The nodes; if several are one machine, only the one that speaks for it, by the rules above. Pure. */
export function oneNodeForEach(
  nodes: readonly Node[],
  { ids, machines = [] }: { ids: ProviderIds; machines?: readonly Machine[] | undefined },
): Node[] {
  const byMachine = Map.groupBy(nodes, (node) => machineIdOf(node, ids) ?? node)
  return [...byMachine].flatMap(([id, objects]) => {
    const name = objects.length > 1 ? machines.find((machine) => machine.id === id)?.name : undefined
    return speaker(objects, name) ?? []
  })
}

function speaker(objects: readonly Node[], machineName: string | undefined): Node | undefined {
  const rank = (node: Node) => [
    Number(objects.some((other) => isReplaced(node, other))),
    Number(node.metadata.name !== machineName),
    Number(isReady(node)),
    createdAt(node),
  ]
  const ranked = objects.length > 1 ? objects.toSorted((one, other) => compareRanks(rank(one), rank(other))) : objects
  return ranked[0]
}

/** Whether another Node object has replaced this one. Objects that disagree about a live machine have not. */
function isReplaced(node: Node, other: Node): boolean {
  if (other.metadata.deletionTimestamp !== undefined) return false
  if (node.metadata.deletionTimestamp !== undefined) return true
  if (isReady(node) || !isReady(other) || createdAt(other) <= createdAt(node)) return false
  const readySince = node.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime
  return isSameHost(node, other) || (readySince != null && Date.parse(readySince) < createdAt(other))
}

function isSameHost({ status: one }: Node, { status: other }: Node): boolean {
  const [a, b] = [one?.nodeInfo, other?.nodeInfo]
  return Boolean(a?.machineID && a.systemUUID) && a?.machineID === b?.machineID && a?.systemUUID === b?.systemUUID
}

function createdAt({ metadata }: Node): number {
  return metadata.creationTimestamp === undefined ? 0 : Date.parse(metadata.creationTimestamp)
}

/** Machines with the node's name that belong to no other node: one may replace the node's machine. */
export function findNamesakes(node: Node, search: Search): Machine[] {
  const { name } = node.metadata
  return search.machines.filter((machine) => machine.name === name && otherNodeOf(machine, node, search) === undefined)
}

/** The message that another machine of the same name replaced a machine, and what to do. */
export function replacementText(node: Node, id: string, others: Machine[]): string {
  const { name } = node.metadata
  const now = others.map((machine) => machine.id).join(' and ')
  return (
    `machine ${id} no longer exists, but ${now} also has the name ${name}. The providerID of a node cannot be ` +
    `changed: if ${name} runs on ${now} now, delete the node (kubectl delete node ${name}) and restart its kubelet, ` +
    'which registers the node again'
  )
}

function otherNodeOf({ id }: Machine, node: Node, { nodes, ids }: Search): string | undefined {
  const other = nodes.find((one) => one.metadata.name !== node.metadata.name && machineIdOf(one, ids) === id)
  return other?.metadata.name
}

type Evidence = {
  named: Machine[]
  /** The machines with a public address of the node; if there are none, those with a private one. */
  holders: Machine[]
  isPublic: boolean
}

function evidenceFor(node: Node, machines: Machine[]): Evidence {
  const wanted = addressesOf(node)
  const having = (isPublic: boolean) => machines.filter((machine) => sharedWith(machine, wanted, isPublic).length > 0)
  const byPublic = having(true)
  return {
    named: machines.filter(({ name }) => name === node.metadata.name),
    holders: byPublic.length > 0 ? byPublic : having(false),
    isPublic: byPublic.length > 0,
  }
}

function isAkin(one: string, other: string): boolean {
  const [first = '', second = ''] = [one, other].map((name) => name.toLowerCase())
  return first === second || first.split('.')[0] === second || second.split('.')[0] === first
}

function addressesOf(node: Node): Set<string> {
  const shown = (node.status?.addresses ?? []).filter(({ type }) => type === 'InternalIP' || type === 'ExternalIP')
  const all = [...providedNodeIps(node), ...shown.map(({ address }) => canonicalIpAddress(address) ?? address)]
  return new Set(all.filter((address) => !isUnspecified(address)))
}

function sharedWith(machine: Machine, wanted: Set<string>, isPublic: boolean): string[] {
  const ofKind = machine.addresses.filter((one) => !one.isElastic && one.isPublic === isPublic)
  return ofKind.map(({ address }) => canonicalIpAddress(address) ?? address).filter((address) => wanted.has(address))
}

function ambiguous(node: Node, { named, holders }: Evidence, ids: ProviderIds): string {
  const all = [...new Set([...named, ...holders])]
  const list = all.map((machine) => `${machine.id} (${reasonsFor(machine, node)})`).join(', ')
  return `${all.length} machines may be node ${node.metadata.name}: ${list}. ${remedy(ids)}, or rename the others`
}

function reasonsFor(machine: Machine, node: Node): string {
  const wanted = addressesOf(node)
  const [address] = [...sharedWith(machine, wanted, true), ...sharedWith(machine, wanted, false)]
  return `named ${machine.name}${address === undefined ? '' : `, has its address ${address}`}`
}

function notFound(node: Node, holders: Machine[], ids: ProviderIds): string {
  const addresses = [...addressesOf(node)]
  const known = holders.length > 0 || addresses.length === 0 ? '' : `one of the addresses ${addresses.join(', ')} or `
  const has = holders.map((machine) => `${machine.id} (${reasonsFor(machine, node)})`).join(', ')
  const doubt = `. Another private network can have the same address, so that alone does not prove that it is ${has}`
  return (
    `no machine has ${known}the name ${node.metadata.name}${holders.length > 0 ? doubt : ''}. ` +
    `Give the machine that name, or ${remedy(ids, 'start')}. ` +
    'If the node runs elsewhere, the cloud provider of that place must initialize it'
  )
}

function remedy({ scheme }: ProviderIds, start: 'Start' | 'start' = 'Start'): string {
  return `${start} the kubelet with --provider-id=${scheme}://<id of its machine>`
}
