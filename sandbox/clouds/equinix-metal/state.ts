import { randomUUID } from 'node:crypto'
import type { Quota } from '../quota.ts'
import type { Allocation, Pool } from '../address-pool.ts'
import { type Scheduler, makeScheduler } from '../scheduler.ts'
import { type AddressSpace, makeAddressSpace } from './address-space.ts'
import { type Facility, type Metro, type Plan, metros, stableId } from './locations.ts'
import type { UnknownBehaviour } from './unknown-behaviour.ts'

export type Organization = { id: string; name: string; description: string; website: string; createdAt: string }

export type Project = {
  id: string
  organization: Organization
  name: string
  tags: string[]
  customdata: object
  createdAt: string
  updatedAt: string
  bgpConfig?: BgpConfig
}

/** A key of the user, or of a project alone. */
export type SshKey = {
  id: string
  project?: Project
  label: string
  key: string
  tags: string[]
  createdAt: string
  updatedAt: string
}

/** Something that happened to a device. */
export type DeviceEvent = { id: string; device: Device; type: string; body: string; createdAt: string }

export type BgpConfig = {
  id: string
  status: 'requested' | 'enabled' | 'disabled'
  deploymentType: 'local' | 'global'
  asn: number
  md5: string | null
  createdAt: string
}

export type Block = { family: 4 | 6; network: string; netmask: string; cidr: number; gateway: string }

export type ReservationType = 'public_ipv4' | 'global_ipv4' | 'private_ipv4' | 'public_ipv6'

/** A block of addresses that a project has reserved. */
export type Reservation = {
  id: string
  project: Project
  type: ReservationType
  state: 'pending' | 'created' | 'denied'
  quantity: number
  /** Absent until it is granted. */
  block?: Block
  allocation?: Allocation
  metro?: Metro
  facility?: Facility
  tags: string[]
  details: string | null
  customdata: object
  createdAt: string
  /** The vendor made it for a device: the project cannot delete it, and it does not count against the quota. */
  management: boolean
  /** False for the blocks of single devices, which no list shows. */
  listed: boolean
  /** The client has deleted it, but the API still shows it. */
  isDeleting: boolean
  /** For private blocks: the pool from which devices get their parts. */
  inside?: Pool
}

/** An address of a reservation that is assigned to a device. */
export type Assignment = {
  id: string
  reservation: Reservation
  device: Device
  block: Block
  address: string
  public: boolean
  management: boolean
  customdata: object
  createdAt: string
  free?: () => void
}

export type DeviceState = (typeof deviceStates)[number]
export const deviceStates = [
  'queued',
  'provisioning',
  'deprovisioning',
  'reinstalling',
  'active',
  'inactive',
  'failed',
  'powering_on',
  'powering_off',
  'deleted',
] as const

export type Device = {
  id: string
  project: Project
  hostname: string
  state: DeviceState
  plan: Plan
  metro: Metro
  facility: Facility
  operatingSystem: string
  mac: string
  /** The fields that `PUT /devices/{id}` may change, under their names in the API. */
  settings: DeviceSettings
  sshKeys: SshKey[]
  /** The highest price that the customer pays for a spot instance. */
  spotPriceMax: number | undefined
  hardwareReservation: string | undefined
  terminationTime: string | undefined
  createdAt: string
  updatedAt: string
  /** When its operating system was installed last. */
  deployedAtMs: number
}

export type DeviceSettings = {
  description: string | null
  tags: string[]
  billing_cycle: string
  locked: boolean
  always_pxe: boolean
  network_frozen: boolean
  spot_instance: boolean
  ipxe_script_url: string | null
  userdata: string
  customdata: object
}

export type Session = {
  id: string
  device: Device
  family: 'ipv4' | 'ipv6'
  defaultRoute: boolean
  /** A word for each switch: `unknown`, `up` or `down`. */
  status: string
  learnedRoutes: string[]
  createdAt: string
  updatedAt: string
}

export type State = Scheduler & {
  organizations: Map<string, Organization>
  sshKeys: Map<string, SshKey>
  /** Oldest first. */
  events: DeviceEvent[]
  /** How many devices of a plan a metro has room for, by `<metro> <plan>`; unlimited when absent. */
  room: Map<string, number>
  projects: Map<string, Project>
  devices: Map<string, Device>
  reservations: Map<string, Reservation>
  assignments: Map<string, Assignment>
  sessions: Map<string, Session>
  addresses: AddressSpace
  quota: Quota
  behaviour: UnknownBehaviour
  /** How reservations are granted: at once, after a person's review, or always late without a review. */
  grants: { mode: 'at-once' | 'review' | 'late'; afterMs?: number }
  /** How long the API still shows a deleted object. */
  deletion: { reservationsMs: number; devicesMs: number }
  provisioningMs: number
  now(): number
  timestamp(): string
}

export type StateOptions = {
  projects: { id: string; name?: string }[]
  quota: Quota
  behaviour: UnknownBehaviour
  provisioningMs: number
  now: () => number
}

/** Makes the state of an account with empty projects. */
export function makeState({ projects, quota, behaviour, provisioningMs, now }: StateOptions): State {
  const timestamp = () => `${new Date(now()).toISOString().slice(0, 19)}Z`
  const createdAt = timestamp()
  const organization = {
    id: stableId('the organization of the sandbox'),
    name: 'sandbox',
    description: '',
    website: '',
  }
  const owner: Organization = { ...organization, createdAt }
  const known = projects.map(({ id, name = 'sandbox' }) => makeProject({ id, name, organization: owner, createdAt }))
  return {
    organizations: new Map([[owner.id, owner]]),
    sshKeys: new Map(),
    events: [],
    room: new Map(),
    projects: new Map(known.map((project) => [project.id, project])),
    devices: new Map(),
    reservations: new Map(),
    assignments: new Map(),
    sessions: new Map(),
    addresses: makeAddressSpace(metros.map(({ code }) => code)),
    quota,
    behaviour,
    grants: { mode: 'at-once' },
    deletion: { reservationsMs: 0, devicesMs: 0 },
    provisioningMs,
    now,
    timestamp,
    ...makeScheduler(now),
  }
}

/** Makes an empty project. */
export function makeProject(of: Pick<Project, 'id' | 'name' | 'organization' | 'createdAt'>): Project {
  return { tags: [], customdata: {}, updatedAt: of.createdAt, ...of }
}

/** Returns a new id, as the vendor makes them. */
export const newId = () => randomUUID()

/** Returns the assignments of a reservation's addresses. */
export function assignmentsIn(state: State, reservation: Reservation): Assignment[] {
  return [...state.assignments.values()].filter((assignment) => assignment.reservation === reservation)
}

/** Returns the assignments to a device. */
export function assignmentsOf(state: State, device: Device): Assignment[] {
  return [...state.assignments.values()].filter((assignment) => assignment.device === device)
}

/** Returns the BGP sessions of a device. */
export function sessionsOf(state: State, device: Device): Session[] {
  return [...state.sessions.values()].filter((session) => session.device === device)
}
