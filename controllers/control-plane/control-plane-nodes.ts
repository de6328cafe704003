import { type EndpointSlice, type Node, isExcluded } from '../../kube/objects.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import type { MovableNode, MoveWords } from '../moves/move-plan.ts'
import type { ProbeHistory } from '../moves/probe-history.ts'
import { machineAddresses } from '../nodes/node-addresses.ts'
import { machineIdOf, oneNodeForEach } from '../nodes/node-machine.ts'
import type { ProviderIds } from '../../clouds/ports/machines.ts'

/** The words for control-plane nodes in messages. */
export const controlPlaneWords: MoveWords = {
  node: 'control-plane node',
  failed: ({ name, probes: { failures, reason = 'no answer' } }) =>
    `${failures} probes of the API server on ${name} failed, the last one: ${reason}`,
  leaving: ['', 'excluded by its label', 'cordoned', 'being deleted'],
}

/** A node with an API server. */
export type ControlPlaneNode = Omit<MovableNode, 'probes'> & {
  /** Where its own API server listens; undefined if the node shows no address. */
  endpoint: { address: string; port: number } | undefined
}

/** A node with an API server, and the history of its probes. */
export type GuardedNode = ControlPlaneNode & { probes: ProbeHistory }

/** Everything that determines the nodes and endpoints. */
export type ControlPlaneState = {
  nodes: readonly Node[]
  /** The EndpointSlices of `default/kubernetes`. */
  slices: readonly EndpointSlice[]
  /** The control-plane address, which never counts as a node's own. */
  shared: string | undefined
  ids: ProviderIds
}

/** The port of an API server if nothing names it. */
const usualPort = 6443

/** The port of the API servers, as their nodes show it. */
export function apiServerPort(nodes: readonly ControlPlaneNode[]): number {
  return nodes.find(({ endpoint }) => endpoint)?.endpoint?.port ?? usualPort
}

/** The control-plane nodes, by name. Pure. */
export function controlPlaneNodes({ nodes, slices, shared, ids }: ControlPlaneState): ControlPlaneNode[] {
  const ports = endpointPorts(slices)
  const [port = usualPort] = ports.values()
  return oneNodeForEach(nodes, { ids })
    .map((node) => {
      const address = ownAddress(node, ports, shared)
      return {
        name: node.metadata.name,
        machine: machineIdOf(node, ids),
        endpoint: address === undefined ? undefined : { address, port: ports.get(address) ?? port },
        // The mirror Service has the same endpoints.
        isPublished: address !== undefined && ports.has(address),
        leaving: leavingOf(node),
      }
    })
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))
}

/** The port of each API server by its address, as the API servers publish it themselves. */
function endpointPorts(slices: readonly EndpointSlice[]): Map<string, number> {
  const pairs = slices.flatMap(({ endpoints, ports }) => {
    const port = (ports?.find(({ name }) => name === 'https') ?? ports?.[0])?.port
    const addresses = endpoints?.flatMap((endpoint) => endpoint.addresses) ?? []
    return port === undefined ? [] : addresses.map((address) => [canonicalIpAddress(address) ?? address, port] as const)
  })
  return new Map(pairs)
}

/** An address that the API server publishes, else the one that the kubelet reports: internal before external. */
function ownAddress(node: Node, ports: Map<string, number>, shared: string | undefined): string | undefined {
  const all = machineAddresses(node)
    .map((address) => canonicalIpAddress(address) ?? address)
    .filter((address) => address !== shared)
  return all.find((address) => ports.has(address)) ?? all[0]
}

/**
 * Ranks how a node is leaving. Only people undo this, with `kubectl uncordon` for example, so two nodes never pass the
 * address back and forth.
 */
function leavingOf(node: Node): number {
  if (node.metadata.deletionTimestamp !== undefined) return 3
  if (node.spec.unschedulable === true) return 2
  return isExcluded(node) ? 1 : 0
}
