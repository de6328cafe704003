import { randomUUID } from 'node:crypto'
import { makePool } from '../address-pool.ts'
import { formatIpv4, parseRange } from '../ipv4.ts'
import type { Quota } from '../quota.ts'
import { makeScheduler, type Scheduler } from '../scheduler.ts'
import type { UnknownBehaviour } from './unknown-behaviour.ts'

/** The zones in which Elastic Metal has flexible IPs. */
export const zones = ['fr-par-1', 'fr-par-2', 'nl-ams-1', 'nl-ams-2', 'pl-waw-2', 'pl-waw-3']

export const serverStatuses = [
  'ready',
  'delivering',
  'stopping',
  'stopped',
  'starting',
  'error',
  'deleting',
  'locked',
  'out_of_stock',
  'ordered',
  'resetting',
  'migrating',
  'unknown',
] as const

export type Server = {
  id: string
  project: string
  zone: string
  name: string
  status: (typeof serverStatuses)[number]
  tags: string[]
  /** Its own address of each family; some servers have none of IPv6. */
  addresses: { IPv4: string; IPv6: string | undefined }
  createdAtMs: number
  /** When this server will have completed its last change of an address: it makes them one at a time. */
  busyUntilMs: number
}

export type FlexibleIp = {
  id: string
  project: string
  zone: string
  description: string
  tags: string[]
  status: 'ready' | 'updating' | 'attached' | 'detaching' | 'error' | 'locked'
  address: string
  isIpv6: boolean
  server: Server | undefined
  /** The server to which it is being attached. */
  next: Server | undefined
  /** The virtual MAC that it has, or gets in a moment. */
  mac: { address: string; type: string; isReady: boolean } | undefined
  reverse: string | null
  createdAtMs: number
  updatedAtMs: number
  /** Counts its changes: a change has no effect once a newer one has begun. */
  changes: number
  /** It is deleted, but reads still show it. */
  isDeleting?: true
}

/** The remains of a deleted address, which the next one of its project and zone inherits. */
type Leftover = Pick<FlexibleIp, 'id' | 'project' | 'zone' | 'address' | 'isIpv6' | 'createdAtMs'>

export type StateOptions = {
  quota: Quota
  behaviour: UnknownBehaviour
  /** How long a server takes for each change of an address. */
  changeMs: number
  /** Whether a new address gets the id, the address and the time of the last deleted one, as it does at the vendor. */
  recycles: boolean
  now: () => number
}

export type State = Scheduler &
  StateOptions & {
    servers: Map<string, Server>
    flexibleIps: Map<string, FlexibleIp>
    leftovers: Leftover[]
    /** How many addresses a server has at most. */
    serverLimit: number
    /** Whether changes fail from now on, after they were accepted. */
    changesFail: boolean
    deletion: { reservationsMs: number; devicesMs: number }
    newId(): string
    /** Undefined where the vendor has none left. */
    newAddress(kind: 'flexible' | 'own'): string | undefined
    newNetwork(): string
  }

/** Makes an empty account. Its addresses are for documentation and benchmarks, so they are routed nowhere. */
export function makeState(options: StateOptions): State {
  const pools = {
    flexible: makePool([parseRange('203.0.113.0/24'), parseRange('198.18.0.0/20')]),
    own: makePool([parseRange('198.51.100.0/24'), parseRange('198.19.0.0/20')]),
  }
  let networks = 0
  return {
    ...options,
    ...makeScheduler(options.now),
    servers: new Map(),
    flexibleIps: new Map(),
    leftovers: [],
    serverLimit: 64,
    changesFail: false,
    deletion: { reservationsMs: 0, devicesMs: 0 },
    newId: () => randomUUID(),
    newAddress(kind) {
      const allocation = pools[kind].allocateFirst(32)
      return allocation && formatIpv4(allocation.range.first)
    },
    newNetwork: () => `2001:db8:702:${(networks += 1).toString(16)}::/64`,
  }
}
