import { isIPv4 } from 'node:net'
import { type Node, isExcluded } from '../../kube/objects.ts'
import { oneNodeForEach } from '../nodes/node-machine.ts'
import { isReady } from '../nodes/taints.ts'

/** Where a managed balancer reaches a node. */
export type NodeOrigin = { node: string; address: string }

export type OriginRules = Parameters<typeof oneNodeForEach>[1] & {
  /** Whether the balancer reaches no node of this region. */
  isElsewhere: (region: string) => boolean
  /** Whether an address may move to another machine: the control-plane address, and the addresses of Services. */
  isElastic: (address: string) => boolean
}

const regionLabel = 'topology.kubernetes.io/region'
/** The cluster autoscaler is about to delete the node. */
const leavingTaint = 'ToBeDeletedByClusterAutoscaler'

/**
 * The nodes to which a balancer sends connections. A balancer probes nothing itself, so nodes that are not ready are
 * left out. If none is ready, all stay: that says more about the cluster's view than about its nodes.
 */
export function nodeOrigins(nodes: readonly Node[], rules: OriginRules): NodeOrigin[] {
  const usable = oneNodeForEach(nodes, rules).filter((node) => isUsable(node, rules))
  const ready = usable.filter(isReady)
  return (ready.length > 0 ? ready : usable)
    .flatMap((node) => originOf(node, rules) ?? [])
    .toSorted((one, other) => one.node.localeCompare(other.node))
}

/** The facts of a node that decide whether and where a balancer reaches it, as one text to compare. */
export function originFacts(node: Node | undefined): string {
  if (!node) return ''
  const { labels = {}, deletionTimestamp } = node.metadata
  const addresses = (node.status?.addresses ?? []).filter(({ type }) => type === 'ExternalIP')
  const isLeaving = node.spec.taints?.some(({ key }) => key === leavingTaint)
  const flags = [isReady(node), isExcluded(node), labels[regionLabel], isLeaving, deletionTimestamp]
  return JSON.stringify([flags, addresses.map(({ address }) => address)])
}

function isUsable(node: Node, { isElsewhere }: OriginRules): boolean {
  const { labels = {}, deletionTimestamp } = node.metadata
  const region = labels[regionLabel]
  return (
    deletionTimestamp === undefined &&
    !isExcluded(node) &&
    !node.spec.taints?.some(({ key }) => key === leavingTaint) &&
    (region === undefined || !isElsewhere(region))
  )
}

/** The origin of a node: its external address. An address that may move would take the connections along. */
function originOf({ metadata, status }: Node, { isElastic }: OriginRules): NodeOrigin | undefined {
  const address = externalAddress(status, isElastic)
  return address === undefined ? undefined : { node: metadata.name, address }
}

/** The public IPv4 address of a node's own; undefined if it has none. */
export function externalAddress(status: Node['status'], isElastic: OriginRules['isElastic']): string | undefined {
  return (status?.addresses ?? []).find(
    ({ type, address }) => type === 'ExternalIP' && isIPv4(address) && !isElastic(address),
  )?.address
}
