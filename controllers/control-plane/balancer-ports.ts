import type { Balancer, Balancers, Origin, OriginPool } from '../../clouds/ports/balancers.ts'
import { type BalancerNames, balancerNames } from '../balancers/balancer-names.ts'
import { type PortChanges, portChanges } from '../balancers/port-changes.ts'
import type { ReachableNode } from './balanced-nodes.ts'

/** The port of a balancer through which users reach the API servers, as the cloud last showed it. */
export type SeenPort = {
  ports: Balancer['ports']
  pools: OriginPool[]
  origins: ReadonlyMap<string, Origin[]>
}

/** The names of what we create at the balancer: they hold for every replica, and for no other balancer. */
export function controlPlaneNames(id: string): BalancerNames {
  return balancerNames({ key: 'kube-system/control-plane', cluster: id, former: '' })
}

/** Reads one port of a balancer with its origins; undefined if there is no such balancer. */
export async function readPort(
  balancers: Balancers,
  { id, number }: { id: string; number: number },
  signal: AbortSignal,
): Promise<SeenPort | undefined> {
  const balancer = await balancers.get(id, signal)
  if (!balancer) return undefined
  // Its other ports are the operator's.
  const ports = balancer.ports.filter((port) => port.number === number)
  const names = controlPlaneNames(id)
  const spare = ports.length > 0 ? [] : await balancers.pools(signal)
  const pools = spare.filter(({ name }) => names.portOfPool(name) === number)
  const ids = [...ports.flatMap((port) => port.pools), ...pools.map((pool) => pool.id)]
  const read = await Promise.all(ids.map(async (pool) => [pool, await balancers.origins(pool, signal)] as const))
  return { ports, pools, origins: new Map(read.flatMap(([pool, origins]) => (origins ? [[pool, origins]] : []))) }
}

/** The addresses that a balancer sends to. */
export function originAddresses({ origins }: SeenPort): ReadonlySet<string> {
  return new Set([...origins.values()].flat().map(({ address }) => address))
}

/** The changes until a balancer sends to these nodes, at the port of their API servers. Pure. */
export function controlPlaneChanges(
  seen: SeenPort,
  { id, number, nodes }: { id: string; number: number; nodes: ReachableNode[] },
): PortChanges {
  return portChanges({
    ...seen,
    balancer: { ports: seen.ports },
    names: controlPlaneNames(id),
    ports: [{ port: number, nodePort: nodes[0]?.endpoint?.port ?? number }],
    nodes: nodes.map(({ name, external }) => ({ node: name, address: external })),
  })
}
