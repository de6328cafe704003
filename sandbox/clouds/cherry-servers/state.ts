import { randomUUID } from 'node:crypto'
import { type Scheduler, makeScheduler } from '../scheduler.ts'
import type { Quota } from '../quota.ts'
import { type AddressSpace, type Host, makeAddressSpace } from './address-space.ts'
import type { Image } from './images.ts'
import type { Plan } from './plans.ts'
import type { Region } from './regions.ts'
import type { UnknownBehaviour } from './unknown-behaviour.ts'

export type Tags = Record<string, string>

export type Team = { id: number; name: string; type: string; currency: string }

/** `localAsn` is 0 until BGP is enabled for a server of the project. */
export type Project = { id: number; team: Team; name: string; bgp: { enabled: boolean; localAsn: number } }

export type SshKey = { id: number; label: string; key: string; createdAtMs: number; updatedAtMs: number }

export type ServerState = (typeof serverStates)[number]
export const serverStates = ['pending', 'provisioning', 'active', 'inactive', 'terminating'] as const

export type ServerStatus = (typeof serverStatuses)[number]
export const serverStatuses = ['deploying', 'deployed', 'allocated', 'rescue mode', 'failed deployment'] as const

export type Server = {
  id: number
  project: Project
  hostname: string
  /** The title of the plan, or the name that the customer chose. */
  name: string
  region: Region
  plan: Plan
  image: Image
  tags: Tags
  sshKeys: number[]
  /** The password that the customer chose; the vendor chooses one where it is absent. */
  password?: string
  spot: boolean
  state: ServerState
  status: ServerStatus
  power: 'on' | 'off'
  bgp: ServerBgp
  createdAtMs: number
  /** When its image was installed last. */
  deployedAtMs: number
}

/** `connected` is the number of routers with a session; they have learned `routes`. */
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
  /** The server that owns this address; every server has a primary and a private one. */
  server?: Server
  /** The server to which a floating IP is routed, through its primary address. */
  target?: Server
  ptrRecord?: string
  aRecord?: string
  createdAtMs: number
  /** The client has deleted it, but the API still shows it. */
  isDeleting: boolean
}

export type State = Scheduler & {
  teams: Map<number, Team>
  sshKeys: Map<number, SshKey>
  projects: Map<number, Project>
  servers: Map<number, Server>
  ips: Map<string, Ip>
  /** The ids of removed addresses. */
  gone: Set<string>
  addresses: AddressSpace
  quota: Quota
  behaviour: UnknownBehaviour
  /** How long the API still shows a deleted object. */
  deletion: { reservationsMs: number; devicesMs: number }
  /** How long lists do not show a new address. */
  listedAfterMs: number
  /** How long a project waits for its ASN after BGP is enabled for a server. */
  localAsnMs: number
  provisioningMs: number
  now(): number
  newTeamId(): number
  newProjectId(): number
  newSshKeyId(): number
  newServerId(): number
  newAsn(): number
}

export type StateOptions = Pick<State, 'quota' | 'behaviour' | 'localAsnMs' | 'provisioningMs' | 'now'> & {
  projects: { id: number; name?: string; bgp?: boolean }[]
}

/** Makes the state of a team with empty projects. */
export function makeState({ projects, ...options }: StateOptions): State {
  const team: Team = { id: 5512, name: 'sandbox', type: 'personal', currency: 'EUR' }
  const known = projects.map(({ id, name = 'sandbox', bgp = false }): Project => {
    if (!Number.isInteger(id) || id < 1) throw new Error(`project ${id}: expected a whole number above 0`)
    return { id, team, name, bgp: { enabled: bgp, localAsn: 0 } }
  })
  return {
    ...options,
    ...makeScheduler(options.now),
    teams: new Map([[team.id, team]]),
    sshKeys: new Map(),
    projects: new Map(known.map((project) => [project.id, project])),
    servers: new Map(),
    ips: new Map(),
    gone: new Set(),
    addresses: makeAddressSpace(),
    // As observed: the API still shows a deleted address for a while, but not a deleted server.
    deletion: { reservationsMs: 2000, devicesMs: 0 },
    listedAfterMs: 0,
    newTeamId: counter(team.id),
    newSshKeyId: counter(9844),
    newProjectId: counter(Math.max(218_449, ...projects.map(({ id }) => id))),
    newServerId: counter(640_116),
    newAsn: counter(64_666),
  }
}

function counter(last: number): () => number {
  let id = last
  return () => ++id
}

/** Returns the id of a new address; every other object has a number. */
export const newIpId = () => randomUUID()

/** Returns the addresses of a server: its own, and floating IPs that are routed to it. */
export function ipsOf(state: State, server: Server): Ip[] {
  return [...state.ips.values()].filter((ip) => ip.server === server || ip.target === server)
}

/** Returns the primary address of a server, through which floating IPs are routed. */
export function primaryOf(state: State, server: Server): Ip | undefined {
  return [...state.ips.values()].find((ip) => ip.server === server && ip.type === 'primary-ip')
}

/** Returns the floating IPs of a project, including deleted ones that the API still shows. */
export function floatingIn(state: State, project: Project): Ip[] {
  return [...state.ips.values()].filter((ip) => ip.project === project && ip.type === 'floating-ip')
}
