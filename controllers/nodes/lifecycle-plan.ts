import type { Machine, ProviderIds } from '../../clouds/ports/machines.ts'
import type { Node } from '../../kube/objects.ts'
import { findNamesakes, machineIdOf, replacementText } from './node-machine.ts'
import { isReady, isShutDown } from './taints.ts'

export type LifecycleStep =
  /** Records on the node whether its machine is off. */
  | { do: 'taint'; isOff: boolean }
  | { do: 'wait'; ms: number }
  /** The machine no longer exists, and the node is kept until an operator acts. */
  | { do: 'keep'; reason: string }
  | { do: 'remove' }

/** Plans the next step for a node that is not ready and whose machine exists. Pure. */
export function planPresent(node: Node, { state }: Machine): LifecycleStep | undefined {
  const isOff = isShutDown(node)
  if (state === 'off' && !isOff) return { do: 'taint', isOff: true }
  if (state === 'on' && isOff) return { do: 'taint', isOff: false }
  return undefined
}

export type MissingMachine = {
  node: Node
  /** The machine that does not exist, according to the provider. */
  id: string
  /** The current machines and nodes. */
  machines: Machine[]
  nodes: Node[]
  ids: ProviderIds
}

/**
 * Why a node stays although its machine does not exist, according to the provider; undefined if there is no such
 * reason. An obviously incomplete answer proves nothing, and an operator must decide about a machine that was replaced
 * under the same name. Pure.
 */
export function reasonToKeep({ node, id, machines, nodes, ids }: MissingMachine): string | undefined {
  if (machines.length === 0)
    return `${gone(id)}, but the provider lists no machine at all, which proves nothing. ${advice(node)}`
  const listed = new Set(machines.map((machine) => machine.id))
  const readyIds = nodes.filter(isReady).flatMap((one) => machineIdOf(one, ids) ?? [])
  if (readyIds.length > 0 && !readyIds.some((ready) => listed.has(ready))) {
    return `${gone(id)}, but it lists none of the machines whose nodes are ready either. ${advice(node)}`
  }
  const others = findNamesakes(node, { machines, nodes, ids })
  return others.length > 0 ? replacementText(node, id, others) : undefined
}

export type Removal = {
  node: Node
  id: string
  /** How long the provider has reported that the machine does not exist, and how long it must. */
  goneForMs: number
  graceMs: number
  mode: 'delete' | 'report'
  /** Whether a node may be deleted now. It is asked only for a node that is due, because a refusal lasts. */
  limit: { canRemove: () => boolean; total: () => number }
}

/** Plans the next step for a node whose machine certainly does not exist. Pure, except for the memory of the limit. */
export function planMissing({ node, id, goneForMs, graceMs, mode, limit }: Removal): LifecycleStep {
  if (goneForMs < graceMs) return { do: 'wait', ms: graceMs - goneForMs }
  if (mode === 'report') return { do: 'keep', reason: `${gone(id)}, and --node-removal=report. ${advice(node)}` }
  if (limit.canRemove()) return { do: 'remove' }
  return {
    do: 'keep',
    reason:
      `${gone(id)}. With it ${limit.total()} nodes would be deleted within ten minutes, which is more likely a mistake. ` +
      `None is deleted until an operator intervenes. ${advice(node)}, and raise --max-node-removals if that many are usual`,
  }
}

function gone(id: string): string {
  return `the provider says that machine ${id} does not exist`
}

function advice({ metadata }: Node): string {
  return `Check the API key and the project; if the machine no longer exists, kubectl delete node ${metadata.name}`
}
