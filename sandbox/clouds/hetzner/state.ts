import { makePool, type Allocation } from '../address-pool.ts'
import { formatIpv4, parseRange } from '../ipv4.ts'
import type { Quota } from '../quota.ts'
import { makeScheduler, type Scheduler } from '../scheduler.ts'
import type { Labels } from './labels.ts'
import type { Image, ServerType } from './catalogue.ts'
import type { Location } from './locations.ts'
import type { UnknownBehaviour } from './unknown-behaviour.ts'

export const serverStatuses = [
  'running',
  'initializing',
  'starting',
  'stopping',
  'off',
  'deleting',
  'migrating',
  'rebuilding',
  'unknown',
] as const

/** A server's place in a private network, where its address is unique. */
export type PrivateNet = { network: number; ip: string }

export type Server = {
  id: number
  project: number
  name: string
  status: (typeof serverStatuses)[number]
  type: ServerType
  image: Image
  location: Location
  labels: Labels
  /** Undefined without a Primary IP of that family. */
  ipv4: string | undefined
  ipv6: string | undefined
  /** The project's other networks may have the same address. */
  privateNet: PrivateNet | undefined
  protection: { delete: boolean; rebuild: boolean }
  createdAtMs: number
}

export type SshKey = {
  id: number
  project: number
  name: string
  fingerprint: string
  publicKey: string
  labels: Labels
  createdAtMs: number
}

export type FloatingIp = {
  id: number
  project: number
  name: string
  description: string | null
  type: 'ipv4' | 'ipv6'
  ip: string
  location: Location
  labels: Labels
  server: Server | undefined
  isBlocked: boolean
  isProtected: boolean
  names: Map<string, string>
  createdAtMs: number
  free: () => void
  /** It is deleted, but reads still show it. */
  isDeleting?: true
}

export type Action = {
  id: number
  project: number
  command: string
  status: 'running' | 'success' | 'error'
  startedAtMs: number
  finishedAtMs: number | undefined
  resources: { id: number; type: string }[]
  error: { code: string; message: string } | null
}

export type StateOptions = {
  quota: Quota
  behaviour: UnknownBehaviour
  /** How long an action runs: a random time between these two. */
  action: { fromMs: number; toMs: number }
  now: () => number
}

export type State = Scheduler & {
  servers: Map<number, Server>
  floatingIps: Map<number, FloatingIp>
  sshKeys: Map<number, SshKey>
  actions: Map<number, Action>
  quota: Quota
  behaviour: UnknownBehaviour
  action: { fromMs: number; toMs: number }
  /** The error with which the next actions end; undefined for success. */
  actionError: { code: string; message: string } | undefined
  deletion: { reservationsMs: number; devicesMs: number }
  now: () => number
  /** Returns a number that no object had before. */
  newId(): number
  newIpv4(kind: 'floating' | 'own'): { ip: string; free: () => void } | undefined
  newIpv6(): string
  newPrivateIp(): string
}

/** Makes an empty account. Its addresses are for documentation and benchmarks, so they are routed nowhere. */
export function makeState(options: StateOptions): State {
  const pools = {
    floating: makePool([parseRange('203.0.113.0/24'), parseRange('198.18.0.0/20')]),
    own: makePool([parseRange('198.51.100.0/24'), parseRange('198.19.0.0/20')]),
  }
  const privates = makePool([parseRange('10.0.0.0/20')])
  privates.allocateFirst(31)
  let last = 1_000_000 + Math.floor(Math.random() * 1_000_000)
  let networks = 0
  const textOf = ({ range, free }: Allocation) => ({ ip: formatIpv4(range.first), free })
  return {
    ...options,
    ...makeScheduler(options.now),
    servers: new Map(),
    floatingIps: new Map(),
    sshKeys: new Map(),
    actions: new Map(),
    actionError: undefined,
    deletion: { reservationsMs: 0, devicesMs: 0 },
    // The next two numbers are the ids of a server's Primary IPs.
    newId: () => (last += 3 + Math.floor(Math.random() * 5)),
    newIpv4(kind) {
      const allocation = pools[kind].allocateFirst(32)
      return allocation && textOf(allocation)
    },
    newIpv6: () => `2001:db8:1:${(networks += 1).toString(16)}::/64`,
    newPrivateIp() {
      const allocation = privates.allocateFirst(32)
      if (!allocation) throw new Error('the private network is full')
      return textOf(allocation).ip
    },
  }
}
