import { randomBytes } from 'node:crypto'
import { type Allocation, type Pool, makePool } from '../address-pool.ts'
import { formatIpv4, parseRange } from '../ipv4.ts'
import type { Quota } from '../quota.ts'
import { type Scheduler, makeScheduler } from '../scheduler.ts'
import type { UnknownBehaviour } from './unknown-behaviour.ts'

/** The locations that the vendor has now. */
export const locations = {
  PHX: 'Phoenix, USA',
  ASH: 'Ashburn, USA',
  SGP: 'Singapore',
  NLD: 'Amsterdam, The Netherlands',
  CHI: 'Chicago, USA',
  SEA: 'Seattle, USA',
} as const

/** A location that the vendor closed; old resources carry its code. */
export const retiredLocation = 'AUS'

export type TagName = { id: string; account: string; name: string; description: string; isBillingTag: boolean }

export type TagAssignment = { tag: TagName; value: string | undefined }

export type BlockStatus =
  | 'creating'
  | 'subnetted'
  | 'assigning'
  | 'error assigning'
  | 'assigned'
  | 'unassigning'
  | 'error unassigning'
  | 'unassigned'

/** The routers' progress with a block. */
export const prefixStatuses = ['PENDING', 'BUSY', 'READY', 'ERROR', 'DELETING'] as const

export const groupStatuses = ['PENDING', 'ON_HOLD', 'BUSY', 'READY', 'ERROR', 'PENDING_DELETION', 'DELETING'] as const

export type Block = {
  id: string
  account: string
  location: string
  version: 'V4' | 'V6'
  /** The prefix length, such as 31. */
  size: number
  cidr: string
  status: BlockStatus
  prefixStatus: (typeof prefixStatuses)[number]
  user: { kind: 'server' | 'network'; id: string } | undefined
  description: string
  tags: TagAssignment[]
  isSystemManaged: boolean
  createdAtMs: number
  free: () => void
  /** It is deleted, but reads still show it. */
  isDeleting?: true
}

export const serverStatuses = [
  'creating',
  'powered-on',
  'powered-off',
  'rebooting',
  'resetting',
  'deleting',
  'reserved',
  'error',
  'reinstating',
] as const

export const networkTypes = ['PUBLIC_AND_PRIVATE', 'PRIVATE_ONLY', 'PUBLIC_ONLY'] as const

export type Server = {
  id: string
  account: string
  hostname: string
  description: string
  location: string
  networkType: (typeof networkTypes)[number]
  status: (typeof serverStatuses)[number]
  privateAddress: string | undefined
  tags: TagAssignment[]
  createdAtMs: number
}

/** A server in a public network, with its addresses there as its client wrote them: single ones, or `a - b`. */
export type Member = { server: string; ips: string[] }

export type PublicNetwork = {
  id: string
  account: string
  name: string
  location: string
  vlanId: number
  description: string
  /** Whether its routers announce themselves to IPv6 hosts. */
  raEnabled: boolean
  members: Member[]
  createdAtMs: number
}

export type PeerGroup = {
  id: string
  account: string
  location: string
  status: (typeof groupStatuses)[number]
  targetAsn: number
  /** Undefined until the first request has completed. */
  activeAsn: number | undefined
  password: string
  advertisedRoutes: 'DEFAULT' | 'NONE'
  createdAtMs: number
  updatedAtMs: number
}

export type StateOptions = {
  quota: Quota
  behaviour: UnknownBehaviour
  /** How long it takes until a block is created, assigned or unassigned, and a peer group is ready. */
  changeMs: number
  now: () => number
}

export type State = Scheduler &
  StateOptions & {
    tags: Map<string, TagName>
    blocks: Map<string, Block>
    servers: Map<string, Server>
    networks: Map<string, PublicNetwork>
    groups: Map<string, PeerGroup>
    /** How many more blocks a location has; unlimited without an entry. */
    stock: Map<string, number>
    deletion: { reservationsMs: number; devicesMs: number }
    newId(): string
    newPrivateAddress(): string
    newVlan(): number
    /** An IPv4 block of this size, aligned to it; undefined if the vendor has none left. */
    allocate(kind: 'ordered' | 'own', size: number): (Allocation & { cidr: string }) | undefined
    newNetwork(): string
    /** Runs the action after `changeMs`, or at once if that is 0. */
    later(action: () => void): void
  }

/** Makes the state of empty accounts. Its addresses are for documentation and benchmarks: they are routed nowhere. */
export function makeState(options: StateOptions): State {
  const pools: Record<'ordered' | 'own', Pool> = {
    ordered: makePool([parseRange('203.0.113.0/24'), parseRange('198.18.0.0/18')]),
    own: makePool([parseRange('198.51.100.0/24'), parseRange('198.19.0.0/20')]),
  }
  const scheduler = makeScheduler(options.now)
  let [networks, machines, vlan] = [0, 0, 9]
  const state: State = {
    ...options,
    ...scheduler,
    tags: new Map(),
    blocks: new Map(),
    servers: new Map(),
    networks: new Map(),
    groups: new Map(),
    stock: new Map(),
    deletion: { reservationsMs: 0, devicesMs: 0 },
    newId: () => randomBytes(12).toString('hex'),
    newPrivateAddress() {
      machines += 1
      return `10.0.${machines >> 8}.${machines & 255}`
    },
    newVlan: () => (vlan += 1),
    allocate(kind, size) {
      const allocation = pools[kind].allocateFirst(size)
      return allocation && { ...allocation, cidr: `${formatIpv4(allocation.range.first)}/${size}` }
    },
    newNetwork: () => `2001:db8:703:${(networks += 1).toString(16)}::/64`,
    later: (action) => (state.changeMs === 0 ? action() : state.schedule(state.changeMs, action)),
  }
  return state
}
