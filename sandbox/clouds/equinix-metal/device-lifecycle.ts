import { addManagement, removeDeviceParts, type Families } from './assignments.ts'
import { unprocessable } from './errors.ts'
import { type Facility, type Metro, type Plan, facilities } from './locations.ts'
import {
  type Device,
  type DeviceEvent,
  type DeviceSettings,
  type DeviceState,
  type Project,
  type SshKey,
  type State,
  newId,
} from './state.ts'

export type DeviceOrder = {
  project: Project
  plan: Plan
  metro: Metro
  facility?: Facility
  hostname?: string
  state: DeviceState
  operatingSystem: string
  settings?: Partial<DeviceSettings>
  sshKeys?: SshKey[]
  spotPriceMax?: number
  hardwareReservation?: string
  terminationTime?: string
  addresses?: Families
}

const everyFamily: Families = { publicIpv4: true, privateIpv4: true, publicIpv6: true }

/** Adds a device to a project, with its management addresses. */
export function addDevice(state: State, order: DeviceOrder): Device {
  const { settings, addresses = everyFamily, sshKeys = [], ...wanted } = order
  checkRoom(state, order)
  const id = newId()
  const facility = wanted.facility ?? facilityIn(wanted.metro)
  const device: Device = {
    id,
    ...wanted,
    hostname: wanted.hostname ?? `metal-${id.slice(0, 8)}`,
    facility,
    mac: `02:00:00:${id.slice(0, 6).replace(/..(?=.)/g, '$&:')}`,
    settings: { ...defaultSettings(), ...settings },
    sshKeys,
    spotPriceMax: wanted.spotPriceMax,
    hardwareReservation: wanted.hardwareReservation,
    terminationTime: wanted.terminationTime,
    createdAt: state.timestamp(),
    updatedAt: state.timestamp(),
    deployedAtMs: state.now(),
  }
  addManagement(state, device, addresses)
  state.devices.set(id, device)
  return device
}

/** Throws 422 if a metro has no room for another device of a plan. */
function checkRoom(state: State, { plan, metro, facility }: DeviceOrder): void {
  if (roomFor(state, metro, plan) > 0) return
  const place = facility ? `facility ${facility.code}` : `metro ${metro.code}`
  throw unprocessable(`The ${place} has no provisionable ${plan.slug} servers matching your criteria`)
}

/** Returns how many more devices of a plan a metro has room for. */
export function roomFor({ room, devices }: State, metro: Metro, plan: Plan): number {
  const limit = room.get(`${metro.code} ${plan.slug}`)
  if (limit === undefined) return Infinity
  return limit - [...devices.values()].filter((one) => one.metro === metro && one.plan === plan).length
}

function facilityIn(metro: Metro): Facility {
  const facility = facilities.find((one) => one.metro === metro)
  if (!facility) throw unprocessable(`No facility in metro ${metro.code}`)
  return facility
}

function defaultSettings(): DeviceSettings {
  return {
    description: null,
    tags: [],
    billing_cycle: 'hourly',
    locked: false,
    always_pxe: false,
    network_frozen: false,
    spot_instance: false,
    ipxe_script_url: null,
    userdata: '',
    customdata: {},
  }
}

/** Schedules the states of a new device until it is active. */
export function provision(state: State, device: Device): void {
  const step = (from: DeviceState, to: DeviceState) => () => {
    if (device.state === from) setDeviceState(state, device, to)
  }
  recordEvent(state, device, { type: 'provisioning.101', body: 'Provision started' })
  state.schedule(state.provisioningMs / 2, step('queued', 'provisioning'))
  state.schedule(state.provisioningMs, () => {
    step('provisioning', 'active')()
    if (device.state === 'active')
      recordEvent(state, device, { type: 'provisioning.109', body: 'Provision complete! Your device is ready to go.' })
  })
}

/** Sets the state of a device. */
export function setDeviceState(state: State, device: Device, to: DeviceState): void {
  Object.assign(device, { state: to, updatedAt: state.timestamp() })
}

/** Adds an event to the history of a device. */
export function recordEvent(state: State, device: Device, event: Pick<DeviceEvent, 'type' | 'body'>): void {
  state.events.push({ id: newId(), device, ...event, createdAt: state.timestamp() })
}

/** Deletes a device at once, or after the time for which the API still shows it. */
export function deprovision(state: State, device: Device): void {
  if (device.settings.locked) throw unprocessable('Cannot delete a locked item')
  if (device.state === 'deprovisioning') throw unprocessable('The device is being deprovisioned')
  if (state.deletion.devicesMs === 0) return removeDevice(state, device)
  setDeviceState(state, device, 'deprovisioning')
  state.schedule(state.deletion.devicesMs, () => removeDevice(state, device))
}

/** Removes a device; the project keeps the addresses that it reserved. */
export function removeDevice(state: State, device: Device): void {
  removeDeviceParts(state, device)
  state.events = state.events.filter((event) => event.device !== device)
  state.devices.delete(device.id)
}
