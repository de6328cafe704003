import { isIPv4 } from 'node:net'
import { type Node, excludeLabel, isExcluded } from '../../kube/objects.ts'
import { oneNodeForEach } from '../nodes/node-machine.ts'
import { isReady, isScaledDown } from '../nodes/taints.ts'

/** The address at which a managed balancer reaches a node. */
export type NodeOrigin = { node: string; address: string }

/** The nodes that a balancer reaches; `unreached` says why there are none. */
export type NodeOrigins = { nodes: NodeOrigin[]; unreached?: string }

export type OriginRules = Parameters<typeof oneNodeForEach>[1] & {
  /** Whether the balancer reaches no node of this region. */
  isElsewhere: (region: string) => boolean
  /** Whether an address may move to another machine: the control-plane address, or an address of a Service. */
  isElastic: (address: string) => boolean
}

const regionLabel = 'topology.kubernetes.io/region'

/**
 * The nodes to which a balancer sends connections. A balancer does not probe, so nodes that are not ready are left out.
 * If none is ready, all stay, because that says more about the cluster's view than about its nodes.
 */
export function nodeOrigins(nodes: readonly Node[], rules: OriginRules): NodeOrigins {
  const usable = oneNodeForEach(nodes, rules).filter((node) => unusableReason(node, rules) === undefined)
  const ready = usable.filter(isReady)
  const origins = (ready.length > 0 ? ready : usable)
    .flatMap((node) => {
      // A movable address would take the connections along.
      const address = externalAddress(node.status, rules.isElastic)
      return address === undefined ? [] : { node: node.metadata.name, address }
    })
    .toSorted((one, other) => one.node.localeCompare(other.node))
  return origins.length > 0 ? { nodes: origins } : { nodes: [], unreached: unreachedText(nodes, rules) }
}

function unreachedText(nodes: readonly Node[], rules: OriginRules): string {
  const counts = new Map<string, number>()
  for (const node of nodes) {
    const reason = unusableReason(node, rules) ?? 'without its own external IPv4 address'
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`)
  return `its load balancer reaches no node of the cluster: ${reasons.join('; ') || 'there is none'}`
}

/** A node's facts that decide whether and where a balancer reaches it, as a single text for comparison. */
export function originFacts(node: Node | undefined): string {
  if (!node) return ''
  const { labels = {}, deletionTimestamp } = node.metadata
  const addresses = (node.status?.addresses ?? []).filter(({ type }) => type === 'ExternalIP')
  const flags = [isReady(node), isExcluded(node), labels[regionLabel], isScaledDown(node), deletionTimestamp]
  return JSON.stringify([flags, addresses.map(({ address }) => address)])
}

function unusableReason(node: Node, { isElsewhere }: OriginRules): string | undefined {
  const { labels = {}, deletionTimestamp } = node.metadata
  if (deletionTimestamp !== undefined) return 'being deleted'
  if (isExcluded(node)) return `with the label ${excludeLabel}`
  if (isScaledDown(node)) return 'going away'
  const region = labels[regionLabel]
  return region !== undefined && isElsewhere(region) ? 'in another region' : undefined
}

/** A node's own public IPv4 address; undefined if it has none. */
export function externalAddress(status: Node['status'], isElastic: OriginRules['isElastic']): string | undefined {
  return (status?.addresses ?? []).find(
    ({ type, address }) => type === 'ExternalIP' && isIPv4(address) && !isElastic(address),
  )?.address
}
