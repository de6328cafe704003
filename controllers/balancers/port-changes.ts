import type { Balancer, BalancerPort, NewOrigin, Origin, OriginPool } from '../../clouds/ports/balancers.ts'
import type { ServicePort } from '../../kube/objects.ts'
import { type BalancerNames, originName } from './balancer-names.ts'
import type { NodeOrigin } from './node-origins.ts'

/** The changes after which a balancer's ports, pools and origins match the Service. */
export type PortChanges = {
  /** Ports that the Service no longer has, or whose pool was deleted, with the pools to delete with them. */
  removePorts: BalancerPort[]
  /** Our unused pools, left over from a lost answer. */
  removePools: string[]
  updatePools: PoolUpdate[]
  /** `pool` is an existing one for this port, or a new one. */
  addPorts: { number: number; pool: PoolUpdate | { id?: never; add: NewOrigin[] } }[]
}

/** The missing and the excess origins of a pool. New origins are added first. */
export type PoolUpdate = { id: string; add: NewOrigin[]; remove: string[] }

export type PortsSeen = {
  balancer: Pick<Balancer, 'ports'>
  pools: OriginPool[]
  /** The origins of each pool that is attached to the balancer or named after it. */
  origins: ReadonlyMap<string, Origin[]>
  names: BalancerNames
  ports: readonly ServicePort[]
  nodes: NodeOrigin[]
}

/** The changes that a balancer needs. Pure; the lists are empty if there are none. */
export function portChanges(seen: PortsSeen): PortChanges {
  const { balancer, names, pools } = seen
  const ports = seen.ports.filter(({ protocol = 'TCP' }) => protocol === 'TCP')
  const wanted = new Map(ports.map((port) => [port.port, port]))
  const isKept = (port: BalancerPort) => wanted.has(port.number) && port.pools.some((id) => seen.origins.has(id))
  const [kept, removed] = [balancer.ports.filter(isKept), balancer.ports.filter((port) => !isKept(port))]
  const used = new Set(kept.flatMap((port) => port.pools))
  const missing = ports.filter(({ port }) => kept.every(({ number }) => number !== port))
  const attached = new Set(balancer.ports.flatMap((port) => port.pools))
  const spare = pools
    .filter(({ id, name }) => names.portOfPool(name) !== undefined && !attached.has(id))
    .toSorted(byAge)
  const spareFor = ({ port }: ServicePort) => spare.find(({ name }) => names.portOfPool(name) === port)
  const reused = new Set(missing.flatMap((port) => spareFor(port)?.id ?? []))
  return {
    removePorts: removed.map((port) => ({ ...port, pools: port.pools.filter((id) => !used.has(id)) })),
    removePools: spare.flatMap(({ id }) => (reused.has(id) ? [] : id)),
    updatePools: kept.flatMap((port) =>
      port.pools.flatMap((id) => differences(seen, { id, nodePort: wanted.get(port.number)?.nodePort }) ?? []),
    ),
    addPorts: missing.flatMap((port) => {
      // The API server has not assigned a node port yet.
      if (port.nodePort === undefined) return []
      const id = spareFor(port)?.id
      const add = wantedOrigins(seen.nodes, port.nodePort)
      return { number: port.port, pool: id === undefined ? { add } : updateOf(seen, { id, nodePort: port.nodePort }) }
    }),
  }
}

/** Only the updates of origins, for a Service that has a mistake and keeps its current ports. */
export function originChanges(seen: PortsSeen): PortChanges {
  return { removePorts: [], removePools: [], updatePools: portChanges(seen).updatePools, addPorts: [] }
}

/** Whether there is nothing to change. */
export function isUnchanged({ removePorts, removePools, updatePools, addPorts }: PortChanges): boolean {
  return [removePorts, removePools, updatePools, addPorts].every((list) => list.length === 0)
}

type PoolAt = { id: string; nodePort: number | undefined }

function differences(seen: PortsSeen, pool: PoolAt): PoolUpdate | undefined {
  const update = updateOf(seen, pool)
  return update.add.length + update.remove.length > 0 ? update : undefined
}

/** Without a node to send to, a pool stays as it is: an empty one would serve no client. */
function updateOf({ origins, nodes }: PortsSeen, { id, nodePort }: PoolAt): PoolUpdate {
  const now = origins.get(id)
  if (nodes.length === 0 || nodePort === undefined || !now) return { id, add: [], remove: [] }
  const wanted = wantedOrigins(nodes, nodePort)
  const present = new Set<string>()
  const remove = now.filter((origin) => {
    const text = originText(origin)
    const isExtra = present.has(text) || wanted.every((one) => originText(one) !== text)
    present.add(text)
    return isExtra
  })
  return { id, add: wanted.filter((one) => !present.has(originText(one))), remove: remove.map((origin) => origin.id) }
}

function wantedOrigins(nodes: NodeOrigin[], port: number): NewOrigin[] {
  return nodes.map(({ node, address }) => ({ name: originName(node), address, port }))
}

function originText({ address, port }: Pick<Origin, 'address' | 'port'>): string {
  return `${address}:${port}`
}

function byAge(one: OriginPool, other: OriginPool): number {
  return (one.createdAt ?? '').localeCompare(other.createdAt ?? '') || one.id.localeCompare(other.id)
}
