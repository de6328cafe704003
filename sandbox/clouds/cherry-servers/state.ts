import { randomUUID } from 'node:crypto'
import { type Scheduler, makeScheduler } from '../scheduler.ts'
import type { Deletion } from '../control.ts'
import type { Quota } from '../quota.ts'
import { type AddressSpace, type Host, makeAddressSpace } from './address-space.ts'
import type { Plan } from './plans.ts'
import type { Region } from './regions.ts'
import type { UnknownBehaviour } from './unknown-behaviour.ts'

export type Tags = Record<string, string>

/** `localAsn` is 0 until BGP was on for a server of the project. */
export type Project = { id: number; name: string; bgp: { enabled: boolean; localAsn: number } }

export type ServerState = (typeof serverStates)[number]
export const serverStates = ['pending', 'provisioning', 'active', 'inactive', 'terminating'] as const

export type ServerStatus = (typeof serverStatuses)[number]
export const serverStatuses = ['deploying', 'deployed', 'allocated', 'rescue mode', 'failed deployment'] as const

export type Server = {
  id: number
  project: Project
  hostname: string
  /** The title of the plan unless the customer gave it a name. */
  name: string
  region: Region
  plan: Plan
  image: string
  tags: Tags
  sshKeys: number[]
  spot: boolean
  state: ServerState
  status: ServerStatus
  power: 'on' | 'off'
  bgp: ServerBgp
  createdAtMs: number
}

/** `connected` of the region's routers have a session with it, and have learned `routes`. */
export type ServerBgp = { enabled: boolean; connected: number; routes: Route[]; updatedMs: number }

export type Route = { subnet: string; router: string; sinceMs: number }

export type IpType = 'floating-ip' | 'primary-ip' | 'private-ip'

export type Ip = {
  id: string
  project: Project
  region: Region
  type: IpType
  host: Host
  tags: Tags
  /** Whose own address it is: servers come with a primary and a private one. */
  server?: Server
  /** Where a floating IP goes: to a server, by way of its primary address. */
  target?: Server
  ptrRecord?: string
  aRecord?: string
  createdAtMs: number
  /** Deleted, but not gone yet. */
  leaving: boolean
}

export type State = Scheduler & {
  team: { id: number; name: string }
  projects: Map<number, Project>
  servers: Map<number, Server>
  ips: Map<string, Ip>
  /** The ids of addresses that were. */
  gone: Set<string>
  addresses: AddressSpace
  quota: Quota
  behaviour: UnknownBehaviour
  /** How long a deleted object is still shown. */
  deletion: Required<Deletion>
  /** How long a new address is missing from lists. */
  listedAfterMs: number
  /** How long a project waits for its ASN once BGP is on for a server. */
  localAsnMs: number
  provisioningMs: number
  now(): number
  newProjectId(): number
  newServerId(): number
  newAsn(): number
}

export type StateOptions = Pick<State, 'quota' | 'behaviour' | 'localAsnMs' | 'provisioningMs' | 'now'> & {
  projects: { id: number; name?: string; bgp?: boolean }[]
}

/** A team with projects in which nothing is yet. */
export function makeState({ projects, ...options }: StateOptions): State {
  const known = projects.map(({ id, name = 'sandbox', bgp = false }): Project => {
    if (!Number.isInteger(id) || id < 1) throw new Error(`project ${id}: expected a whole number above 0`)
    return { id, name, bgp: { enabled: bgp, localAsn: 0 } }
  })
  return {
    ...options,
    ...makeScheduler(options.now),
    team: { id: 5512, name: 'sandbox' },
    projects: new Map(known.map((project) => [project.id, project])),
    servers: new Map(),
    ips: new Map(),
    gone: new Set(),
    addresses: makeAddressSpace(),
    // As seen: an address is read and listed for a while after its deletion, a server is not.
    deletion: { reservationsMs: 2000, devicesMs: 0 },
    listedAfterMs: 0,
    newProjectId: counter(Math.max(218_449, ...projects.map(({ id }) => id))),
    newServerId: counter(640_116),
    newAsn: counter(64_666),
  }
}

function counter(last: number): () => number {
  let id = last
  return () => ++id
}

/** The id of a new address; everything else has a number. */
export const newIpId = () => randomUUID()

/** The addresses that a server has: its own, and those that are targeted at it. */
export function ipsOf(state: State, server: Server): Ip[] {
  return [...state.ips.values()].filter((ip) => ip.server === server || ip.target === server)
}

/** The address by which a server is reached, and floating IPs are routed. */
export function primaryOf(state: State, server: Server): Ip | undefined {
  return [...state.ips.values()].find((ip) => ip.server === server && ip.type === 'primary-ip')
}

/** The floating IPs of a project, deleted ones as long as they are shown. */
export function floatingIn(state: State, project: Project): Ip[] {
  return [...state.ips.values()].filter((ip) => ip.project === project && ip.type === 'floating-ip')
}
