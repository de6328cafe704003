import { ControlError, findById } from '../control-error.ts'
import type { AccountControl, CloudControl, Json } from '../control.ts'
import { assign, detach } from './assignments.ts'
import type { BalancerControl } from './balancers/control.ts'
import { addDevice, removeDevice, setDeviceState } from './device-lifecycle.ts'
import { plain } from './includes.ts'
import { findMetro, plans } from './locations.ts'
import { renderReservation } from './render.ts'
import { renderDevice } from './render-device.ts'
import { grant, removeReservation } from './reservations.ts'
import { type DeviceState, type Project, type Reservation, type State, assignmentsIn, deviceStates } from './state.ts'
import { type UnknownBehaviour, chooseBehaviour } from './unknown-behaviour.ts'

export type NewDevice = {
  hostname: string
  project?: string
  metro?: string
  plan?: string
  tags?: string[]
  state?: DeviceState
}

/** The controls of a simulated Equinix Metal, in addition to those of every simulated cloud. */
export type EquinixMetalControl = AccountControl & {
  reservations: {
    grant(id: string): Json
    deny(id: string): Json
  }
  devices: {
    /** Adds a device, in metro `da` when `metro` is absent. */
    add(device: NewDevice): Json
    setState(id: string, state: DeviceState): Json
  }
  bgp: {
    /** Sets what a session shows: a word for each switch (`up,up`), and the learned routes. */
    setSession(id: string, shown: { status?: string; learnedRoutes?: string[] }): void
    /** Sets the status of a project's BGP configuration; a global one waits until it is enabled. */
    setStatus(project: string, status: 'requested' | 'enabled' | 'disabled'): void
  }
  balancers: BalancerControl
  /** Sets how many devices of a plan a metro has room for, including the existing ones. Orders for more get 422. */
  setRoom(room: { metro: string; plan: string; devices: number }): void
  /** Sets how reservations are granted: see `State.grants`. */
  setGrants(grants: State['grants']): void
  unknowns(): UnknownBehaviour
  setUnknowns(given: Partial<UnknownBehaviour>): void
}

/** Makes the controls of one account. */
export function makeMetalControl(
  state: State,
  shared: CloudControl,
  parts: Pick<EquinixMetalControl, 'balancers' | 'tokens'>,
): EquinixMetalControl {
  return {
    ...shared,
    ...parts,
    reservations: reservationControl(state),
    devices: deviceControl(state),
    bgp: bgpControl(state),
    setRoom: (room) => setRoom(state, room),
    setGrants: (grants) => void (state.grants = grants),
    setDeletion: (deletion) => void Object.assign(state.deletion, deletion),
    unknowns: () => ({ ...state.behaviour }),
    setUnknowns: (given) => void (state.behaviour = chooseBehaviour({ ...state.behaviour, ...given })),
  }
}

function reservationControl(state: State): EquinixMetalControl['reservations'] {
  const find = (id: string) => findById(state.reservations, id, 'reservation')
  const show = (id: string) => renderReservation(state, find(id), plain)
  return {
    all() {
      state.runDue()
      return [...state.reservations.keys()].map(show)
    },
    deleting() {
      state.runDue()
      return [...state.reservations.values()].filter(({ isDeleting }) => isDeleting).map(({ id }) => id)
    },
    grant(id) {
      if (!grant(state, find(id))) throw new ControlError(`reservation ${id} is not pending, or no address is left`)
      return show(id)
    },
    deny(id) {
      if (find(id).state !== 'pending') throw new ControlError(`reservation ${id} is not pending`)
      find(id).state = 'denied'
      return show(id)
    },
    vanish: (id) => removeReservation(state, find(id)),
    assign: (id, machine) => reassign(state, find(id), machine),
  }
}

function reassign(state: State, reservation: Reservation, machine: string | undefined): void {
  const device = machine === undefined ? undefined : findById(state.devices, machine, 'device')
  for (const one of assignmentsIn(state, reservation)) detach(state, one)
  if (device) assign(state, device, { address: reservation.block?.network })
}

function deviceControl(state: State): EquinixMetalControl['devices'] {
  const find = (id: string) => findById(state.devices, id, 'device')
  const setState = (id: string, to: DeviceState) => {
    if (!deviceStates.includes(to)) throw new ControlError(`state ${to}: expected one of ${deviceStates.join(', ')}`)
    setDeviceState(state, find(id), to)
    return renderDevice(state, find(id), plain)
  }
  return {
    all() {
      state.runDue()
      return [...state.devices.values()].map((device) => renderDevice(state, device, plain))
    },
    add: (device) => renderDevice(state, addDevice(state, readNewMachine(state, device)), plain),
    setState,
    powerOff: (id) => setState(id, 'inactive'),
    powerOn: (id) => setState(id, 'active'),
    remove: (id) => removeDevice(state, find(id)),
  }
}

function readNewMachine(state: State, { project, metro = 'da', plan = 'c3.small.x86', ...wanted }: NewDevice) {
  const place = findMetro(metro)
  if (!place) throw new ControlError(`no metro "${metro}"`)
  const known = plans.find(({ slug }) => slug === plan)
  if (!known) throw new ControlError(`no plan "${plan}": expected one of ${plans.map(({ slug }) => slug).join(', ')}`)
  const [first] = state.projects.keys()
  return {
    project: findById(state.projects, project ?? first ?? '', 'project'),
    metro: place,
    plan: known,
    hostname: wanted.hostname,
    state: wanted.state ?? ('active' as const),
    operatingSystem: 'ubuntu_24_04',
    settings: { tags: wanted.tags ?? [] },
  }
}

function setRoom(state: State, { metro, plan, devices }: { metro: string; plan: string; devices: number }): void {
  const place = findMetro(metro)
  if (!place) throw new ControlError(`no metro "${metro}"`)
  if (!plans.some(({ slug }) => slug === plan)) throw new ControlError(`no plan "${plan}"`)
  state.room.set(`${place.code} ${plan}`, devices)
}

function bgpControl(state: State): EquinixMetalControl['bgp'] {
  return {
    setSession(id, shown) {
      Object.assign(findById(state.sessions, id, 'BGP session'), shown, { updatedAt: state.timestamp() })
    },
    setStatus(id, status) {
      const { bgpConfig }: Project = findById(state.projects, id, 'project')
      if (!bgpConfig) throw new ControlError(`project ${id} has no BGP configuration`)
      bgpConfig.status = status
    },
  }
}
