import type { Json } from '../../control.ts'
import {
  type BalancerState,
  type LoadBalancer,
  type Origin,
  type Pool,
  type Port,
  microseconds,
  originsOf,
  portsOf,
  providerId,
} from './state.ts'

type Short = { id: string; name: string; createdAt: string; updatedAt: string }

const short = ({ id, name, createdAt, updatedAt }: Short): Json => ({
  id,
  name,
  created_at: createdAt,
  updated_at: updatedAt,
})

/** The service was opened then; no other time of a location is public. */
const locationsAt = microseconds(Date.parse('2023-06-01T00:00:00Z'))

/** A load balancer: the lists in `pools` are in the order of `ports`, and `ips` is missing while it is built. */
export function renderBalancer(state: BalancerState, balancer: LoadBalancer): Json {
  const ports = portsOf(state, balancer)
  const { location, builtAtMs, ip } = balancer
  const place = {
    id: location.id,
    name: location.metro.toUpperCase(),
    created_at: locationsAt,
    updated_at: locationsAt,
  }
  return {
    ...short(balancer),
    provider: { id: providerId, name: 'metal-lb' },
    location: place,
    ...(builtAtMs <= state.account.now() && { ips: [ip] }),
    ports: ports.map((port) => ({ ...short(port), number: port.number })),
    pools: ports.map(({ pools }) => pools.map(short)),
  }
}

/** A port that is read by itself. */
export function renderPort(port: Port): Json {
  const ids = { loadbalancer_id: port.balancer.id, pool_ids: port.pools.map(({ id }) => id) }
  return { ...short(port), number: port.number, ...ids }
}

/** A pool, with everything that uses it or that it uses. */
export function renderPool(state: BalancerState, pool: Pool): Json {
  const ports = [...state.ports.values()].filter(({ pools }) => pools.includes(pool))
  return {
    ...short(pool),
    protocol: pool.protocol,
    project_id: pool.project.id,
    ports: ports.map((port) => ({ ...short(port), number: port.number })),
    origins: originsOf(state, pool).map(renderOrigin),
    loadbalancers: [...new Set(ports.map(({ balancer }) => balancer))].map(short),
  }
}

/** An origin. */
export function renderOrigin(origin: Origin): Json {
  const { target, portNumber, active, pool } = origin
  return { ...short(origin), target, port_number: portNumber, active, pool_id: pool.id }
}

/** The answer to every creation. */
export function renderCreated({ id }: { id: string }): Json {
  return { version: 'v1', message: 'success', status: 200, id }
}
