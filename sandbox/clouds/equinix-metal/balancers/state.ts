import { randomBytes } from 'node:crypto'
import type { Project, State } from '../state.ts'

type Named = { id: string; name: string; createdAt: string; updatedAt: string }

export type LoadBalancer = Named & { project: Project; location: Place; builtAtMs: number; ip: string; free(): void }
export type Port = Named & { balancer: LoadBalancer; number: number; pools: Pool[] }
export type Pool = Named & { project: Project; protocol: 'tcp' | 'udp' }
export type Origin = Named & { pool: Pool; target: string; portNumber: number; active: boolean }

export type Place = { id: string; metro: string }

/** The managed load balancers of an account, and what a test or a person can change about them. */
export type BalancerState = {
  account: State
  balancers: Map<string, LoadBalancer>
  ports: Map<string, Port>
  pools: Map<string, Pool>
  origins: Map<string, Origin>
  settings: BalancerSettings
}

export type BalancerSettings = {
  /** How long a new load balancer has no addresses. */
  buildMs: number
  /** How long a token is valid. */
  tokenMs: number
  /** How many load balancers a project may have. */
  limit: number
  /** Ports that no load balancer may listen on. The vendor does not publish which. */
  restrictedPorts: number[]
  /** The longest name. Until August 2024 there was no such rule, and the predecessor's names have 137 characters. */
  maxName: number
}

/** The metros that have load balancers. */
export const places: Place[] = [
  { id: 'lctnloc--uxs0GLeAELHKV8GxO_AI', metro: 'da' },
  { id: 'lctnloc-Vy-1Qpw31mPi6RJQwVf9A', metro: 'ny' },
  { id: 'lctnloc-H5rl2M2VL5dcFmdxhbEKx', metro: 'sv' },
  { id: 'lctnloc-1lJjVT6Zp_Fs4UpW5LWQu', metro: 'dc' },
  { id: 'lctnloc-1ttCRz-P8aY0rda9BxOiL', metro: 'am' },
  { id: 'lctnloc-AxCxpIrNUaaoGBkM02uuw', metro: 'sg' },
]

/** The id of the only provider. */
export const providerId = 'loadpvd-gOB_-byp5ebFo7A3LHv2B'

/** Makes an account without load balancers. */
export function makeBalancerState(account: State): BalancerState {
  return {
    account,
    balancers: new Map(),
    ports: new Map(),
    pools: new Map(),
    origins: new Map(),
    settings: { buildMs: 0, tokenMs: 3_600_000, limit: 5, restrictedPorts: [22], maxName: 64 },
  }
}

/** Returns a new id, as the vendor makes them: a prefix of 7 characters, and a nanoid of 21, which may begin with `-`. */
export function newBalancerId(prefix: 'loadbal' | 'loadprt' | 'loadpol' | 'loadogn'): string {
  return `${prefix}-${randomBytes(16).toString('base64url').slice(0, 21)}`
}

/** The id and the times of a new object. This service writes times with microseconds. */
export function newNamed({ account }: BalancerState, prefix: Parameters<typeof newBalancerId>[0], name: string): Named {
  const at = microseconds(account.now())
  return { id: newBalancerId(prefix), name, createdAt: at, updatedAt: at }
}

/** A time as this service writes it. */
export function microseconds(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}

/** Deletes a load balancer with its ports. Its pools stay. */
export function removeBalancer(state: BalancerState, balancer: LoadBalancer): void {
  for (const port of portsOf(state, balancer)) state.ports.delete(port.id)
  state.balancers.delete(balancer.id)
  balancer.free()
}

/** Deletes a pool with its origins. */
export function removePool(state: BalancerState, pool: Pool): void {
  for (const origin of originsOf(state, pool)) state.origins.delete(origin.id)
  for (const port of state.ports.values()) port.pools = port.pools.filter((one) => one !== pool)
  state.pools.delete(pool.id)
}

/** The ports of a load balancer, in the order of their creation. */
export function portsOf(state: BalancerState, balancer: LoadBalancer): Port[] {
  return [...state.ports.values()].filter((port) => port.balancer === balancer)
}

/** The origins of a pool, in the order of their creation. */
export function originsOf(state: BalancerState, pool: Pool): Origin[] {
  return [...state.origins.values()].filter((origin) => origin.pool === pool)
}
