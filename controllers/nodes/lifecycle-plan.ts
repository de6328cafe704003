import type { Machine } from '../../clouds/machines.ts'
import type { Node } from '../../kube/objects.ts'
import { namesakes, replaced } from './find-machine.ts'
import { type ProviderIds, readProviderId } from './provider-id.ts'
import { isReady, isShutDown } from './taints.ts'

export type LifecycleStep =
  /** Says on the node whether its machine is off. */
  | { do: 'mark'; isOff: boolean }
  | { do: 'wait'; ms: number }
  /** Its machine is gone, and yet it stays, until somebody has done something about it. */
  | { do: 'keep'; why: string }
  | { do: 'remove' }

/** What to write on a node that is not ready and whose machine is there. Pure. */
export function planPresent(node: Node, { state }: Machine): LifecycleStep | undefined {
  const isOff = isShutDown(node)
  if (state === 'off' && !isOff) return { do: 'mark', isOff: true }
  if (state === 'on' && isOff) return { do: 'mark', isOff: false }
  return undefined
}

export type Missing = {
  node: Node
  /** The machine that the cloud says does not exist. */
  id: string
  /** Machines and nodes as they are now. */
  machines: Machine[]
  nodes: Node[]
  ids: ProviderIds
}

/**
 * Why a node stays whatever the cloud says of its machine: an answer that cannot be the whole truth proves nothing, and
 * a machine that was replaced under the same name is for a person to sort out. Undefined where nothing speaks for it. Pure.
 */
export function reasonToKeep({ node, id, machines, nodes, ids }: Missing): string | undefined {
  if (machines.length === 0)
    return `${gone(id)}, but the cloud lists no machine at all, which proves nothing. ${check(node)}`
  const listed = new Set(machines.map((machine) => machine.id))
  const alive = nodes.filter(isReady).flatMap(({ spec }) => {
    const said = readProviderId(spec.providerID, ids)
    return said.kind === 'machine' ? [said.id] : []
  })
  if (alive.length > 0 && !alive.some((one) => listed.has(one))) {
    return `${gone(id)}, but it lists none of the machines whose nodes are ready either. ${check(node)}`
  }
  const others = namesakes(node, { machines, nodes, ids })
  return others.length > 0 ? replaced(node, id, others) : undefined
}

export type Removal = {
  node: Node
  id: string
  /** How long the cloud has said that the machine is gone, and how long it has to. */
  goneForMs: number
  graceMs: number
  mode: 'delete' | 'report'
  /** Whether so many nodes may go within ten minutes, and how many it would be. */
  brake: { allows: () => boolean; going: () => number }
}

/** What becomes of a node whose machine is gone beyond doubt. Pure, but for the brake, which remembers. */
export function planMissing({ node, id, goneForMs, graceMs, mode, brake }: Removal): LifecycleStep {
  if (goneForMs < graceMs) return { do: 'wait', ms: graceMs - goneForMs }
  if (mode === 'report') return { do: 'keep', why: `${gone(id)}, and --node-removal=report. ${check(node)}` }
  if (brake.allows()) return { do: 'remove' }
  return {
    do: 'keep',
    why:
      `${gone(id)}. With it ${brake.going()} nodes would go within ten minutes, which is more likely a mistake than the ` +
      `truth, so none is deleted until a person has looked. ${check(node)}, and raise --max-node-removals where that ` +
      'many are usual',
  }
}

function gone(id: string): string {
  return `the cloud says that machine ${id} does not exist`
}

function check({ metadata }: Node): string {
  return `Check the API key and the project; if the machine is gone, kubectl delete node ${metadata.name}`
}
