import { isIPv6 } from 'node:net'
import { isDeepStrictEqual } from 'node:util'
import type { Machine, MachineAddress } from '../../clouds/ports/machines.ts'
import type { Node, NodeAddress } from '../../kube/objects.ts'
import { canonicalIpAddress, isUnspecified } from '../../lib/ip-address.ts'
import type { Annotation } from '../../lib/annotation.ts'

/**
 * The addresses that a node should show; undefined if it already does. An address from --node-ip comes first, even if
 * the provider does not know it, as in a VLAN. It replaces others of its type and family. Elastic addresses are left
 * out: they move, and a client that remembers one would later reach another machine.
 */
export function nodeAddresses(node: Node, machine: Machine): NodeAddress[] | undefined {
  const provided = providedNodeIps(node)
  const first = provided.filter((ip) => !isUnspecified(ip)).map((ip) => asProvided(ip, machine))
  const own = machine.addresses.filter(({ isElastic }) => !isElastic).map(nodeAddress)
  const others = own.filter((one) => !first.some((other) => isAlike(one, other)))
  // If the provider knows no address of the machine, the node keeps its own.
  if (first.length + others.length === 0) return undefined
  const now = node.status?.addresses ?? []
  const wanted = onceEach([
    ...first,
    ...names(node),
    ...internalKept(now, [...first, ...others]),
    ...ordered(others, provided[0]),
  ])
  return isDeepStrictEqual(wanted, now) ? undefined : wanted
}

function asProvided(ip: string, { addresses }: Machine): NodeAddress {
  const known = addresses.find(({ address }) => canonicalIpAddress(address) === ip)
  return known ? nodeAddress(known) : { type: 'InternalIP', address: ip }
}

function nodeAddress({ address, isPublic }: MachineAddress): NodeAddress {
  return { type: isPublic ? 'ExternalIP' : 'InternalIP', address: canonicalIpAddress(address) ?? address }
}

function isAlike(one: NodeAddress, other: NodeAddress): boolean {
  return one.type === other.type && isIPv6(one.address) === isIPv6(other.address)
}

/** The kubelet decides about names: the machine's name may differ, and certificates are checked against the node's. */
function names({ metadata, status }: Node): NodeAddress[] {
  const known = (status?.addresses ?? []).filter(({ type }) => type !== 'InternalIP' && type !== 'ExternalIP')
  return known.some(({ type }) => type === 'Hostname')
    ? known
    : [{ type: 'Hostname', address: metadata.name }, ...known]
}

/** If the provider knows no private address, the node keeps those that the kubelet found. */
function internalKept(now: NodeAddress[], known: NodeAddress[]): NodeAddress[] {
  return known.some(({ type }) => type === 'InternalIP') ? [] : now.filter(({ type }) => type === 'InternalIP')
}

function ordered(addresses: NodeAddress[], preferred: string | undefined): NodeAddress[] {
  const prefersIpv6 = preferred !== undefined && isIPv6(preferred)
  const place = ({ type, address }: NodeAddress) =>
    Number(type === 'ExternalIP') * 2 + Number(isIPv6(address) !== prefersIpv6)
  return addresses.toSorted((one, other) => place(one) - place(other))
}

/** The addresses of its machine that a node shows: internal ones first, and IPv4 before IPv6. */
export function machineAddresses({ status }: Node): string[] {
  const own = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP' || type === 'ExternalIP')
  return ordered(own, undefined).map(({ address }) => address)
}

function onceEach(addresses: NodeAddress[]): NodeAddress[] {
  return addresses.filter((one, n) => addresses.findIndex(({ address }) => address === one.address) === n)
}

/** The value of the kubelet's --node-ip: one address, or one of each family. */
const providedIps = 'alpha.kubernetes.io/provided-node-ip'

/** The addresses that the kubelet must use, in its order; anything else is ignored. */
export function providedNodeIps({ metadata }: Node): string[] {
  const parts = (metadata.annotations?.[providedIps] ?? '').split(',').map((part) => part.trim())
  return parts.flatMap((part) => canonicalIpAddress(part) ?? [])
}

/** Annotations of nodes that we read in every dialect. */
export const nodeAnnotations: readonly Annotation[] = [
  {
    name: providedIps,
    on: 'Node',
    writers: ['kubelet'],
    values: 'one or two IP addresses, separated by a comma',
    default: 'the addresses of the machine',
    sentence: 'The addresses of `--node-ip` of the kubelet. They become the first addresses of the node.',
  },
]
