// What a node should say of its machine. The first row that applies decides.
//
//   the node                                      | step
//   ----------------------------------------------+---------------------------------------------------------
//   shows other addresses than the machine has    | set-addresses
//   waits for its initialization (taint)          | identify: labels, providerID if absent, taint removed
//   has no providerID                             | identify: labels, providerID
//   lacks labels                                  | identify: labels
//   otherwise                                     | -
import type { Machine, ProviderIds } from '../../clouds/ports/machines.ts'
import type { Node, NodeAddress, Taint } from '../../kube/objects.ts'
import { nodeAddresses } from './node-addresses.ts'
import { missingLabels } from './node-labels.ts'
import { formatProviderId } from './provider-id.ts'
import { initializedTaints, isUninitialized } from './taints.ts'

/** One write to a node. Addresses come first: without the taint pods start, and they read the addresses. */
export type NodeStep =
  | { do: 'set-addresses'; addresses: NodeAddress[] }
  | { do: 'identify'; providerID?: string; labels: Record<string, string>; taints?: Taint[] }

/** The next write to a node whose machine is known; undefined if the node is settled. Pure. */
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
