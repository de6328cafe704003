import type { Machine, ProviderIds } from '../../clouds/ports/machines.ts'
import type { Node, NodeAddress, Taint } from '../../kube/objects.ts'
import { isLabelValue } from '../../lib/names.ts'
import { nodeAddresses } from './node-addresses.ts'
import { formatProviderId } from './provider-id.ts'
import { initializedTaints, isUninitialized } from './taints.ts'

/** The old and the new name of a label, and the machine's field with its value. */
const pairs = [
  { keys: ['beta.kubernetes.io/instance-type', 'node.kubernetes.io/instance-type'], field: 'type' },
  { keys: ['failure-domain.beta.kubernetes.io/region', 'topology.kubernetes.io/region'], field: 'region' },
  { keys: ['failure-domain.beta.kubernetes.io/zone', 'topology.kubernetes.io/zone'], field: 'zone' },
] as const

/** A write to a node. Addresses come first: once the taint is removed, pods start and read the addresses. */
export type NodeStep =
  | { do: 'set-addresses'; addresses: NodeAddress[] }
  | { do: 'identify'; providerID?: string; labels: Record<string, string>; taints?: Taint[] }

/** Plans the next write to a node whose machine is known; undefined if the node is settled. Pure. */
export function planNode(node: Node, machine: Machine, ids: ProviderIds): NodeStep | undefined {
  const addresses = nodeAddresses(node, machine)
  if (addresses) return { do: 'set-addresses', addresses }
  const labels = missingLabels(node, machine)
  const isNew = isUninitialized(node)
  const isNameless = !node.spec.providerID
  if (!isNew && !isNameless && Object.keys(labels).length === 0) return undefined
  return {
    do: 'identify',
    labels,
    ...(isNameless && { providerID: formatProviderId(machine.id, ids) }),
    ...(isNew && { taints: initializedTaints(node) }),
  }
}

/** The names and values of labels that a node lacks because the machine's value is no valid label. */
export function impossibleLabels(
  { metadata: { labels = {} } }: Node,
  machine: Machine,
): [name: string, value: string][] {
  return pairs.flatMap(({ keys, field }): [string, string][] => {
    const value = machine[field]
    if (!value || isLabelValue(value) || keys.some((key) => labels[key] !== undefined)) return []
    return [[keys[1], value]]
  })
}

/**
 * The labels that a node lacks. A new node gets its machine's values. On an initialized node an existing label stays,
 * because a person may have changed it. A missing one gets the value of its other name.
 */
function missingLabels(node: Node, machine: Machine): Record<string, string> {
  const now = node.metadata.labels ?? {}
  const isNew = isUninitialized(node)
  const wanted = pairs.flatMap(({ keys, field }) => {
    const twin = isNew ? undefined : (now[keys[0]] ?? now[keys[1]])
    const value = twin ?? machine[field]
    // A single invalid value would make the API server refuse the whole write.
    if (!value || !isLabelValue(value)) return []
    return keys.filter((key) => (isNew ? now[key] !== value : now[key] === undefined)).map((key) => [key, value])
  })
  const own = Object.entries(machine.labels ?? {}).filter(([key]) => now[key] === undefined)
  return Object.fromEntries([...wanted, ...own]) as Record<string, string>
}
