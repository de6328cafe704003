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
  /** A word for each switch: `unknown`, `up` or `down`. */
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
