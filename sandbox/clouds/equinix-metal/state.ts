import { randomUUID } from 'node:crypto'
import type { Quota } from '../quota.ts'
import type { Allocation, Pool } from '../address-pool.ts'
import { type Scheduler, makeScheduler } from '../scheduler.ts'
import { type AddressSpace, makeAddressSpace } from './address-space.ts'
import { type Facility, type Metro, type Plan, metros } from './locations.ts'
import type { UnknownBehaviour } from './unknown-behaviour.ts'

export type Project = { id: string; name: string; createdAt: string; bgpConfig?: BgpConfig }

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

/** A block of addresses that a project holds. */
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
  /** Made by the vendor for a device: not the project's to delete, and no part of its quota. */
  management: boolean
  /** The blocks of single devices are in no list. */
  listed: boolean
  /** Deleted, but not gone yet. */
  leaving: boolean
  /** Private blocks: what devices get is cut from it. */
  inside?: Pool
}

/** An address of a reservation that a device has. */
export type Assignment = {
  id: string
  reservation: Reservation
  device: Device
  block: Block
  address: string
  public: boolean
  management: boolean
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
  /** What `PUT /devices/{id}` may change, under the names it has there. */
  settings: DeviceSettings
  hardwareReservation: string | undefined
  terminationTime: string | undefined
  createdAt: string
  updatedAt: string
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
  /** One word a switch: `unknown`, `up`, `down`. */
  status: string
  learnedRoutes: string[]
  createdAt: string
  updatedAt: string
}

export type State = Scheduler & {
  projects: Map<string, Project>
  devices: Map<string, Device>
  reservations: Map<string, Reservation>
  assignments: Map<string, Assignment>
  sessions: Map<string, Session>
  addresses: AddressSpace
  quota: Quota
  behaviour: UnknownBehaviour
  /** How reservations are granted: at once; after a review by a person; or always late, without a review. */
  grants: { mode: 'at-once' | 'review' | 'late'; afterMs?: number }
  /** How long a deleted object is still shown. */
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

/** An account with projects in which nothing is yet. */
export function makeState({ projects, quota, behaviour, provisioningMs, now }: StateOptions): State {
  const timestamp = () => `${new Date(now()).toISOString().slice(0, 19)}Z`
  return {
    projects: new Map(projects.map(({ id, name = 'sandbox' }) => [id, { id, name, createdAt: timestamp() }])),
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

/** A new id, as the vendor makes them. */
export const newId = () => randomUUID()

/** The addresses of a reservation that devices have. */
export function assignmentsIn(state: State, reservation: Reservation): Assignment[] {
  return [...state.assignments.values()].filter((assignment) => assignment.reservation === reservation)
}

/** The addresses that a device has. */
export function assignmentsOf(state: State, device: Device): Assignment[] {
  return [...state.assignments.values()].filter((assignment) => assignment.device === device)
}

/** The BGP sessions of a device. */
export function sessionsOf(state: State, device: Device): Session[] {
  return [...state.sessions.values()].filter((session) => session.device === device)
}
