import { addManagement, removeDeviceParts, type Families } from './assignments.ts'
import { unprocessable } from './errors.ts'
import { type Facility, type Metro, type Plan, facilities } from './locations.ts'
import { type Device, type DeviceSettings, type DeviceState, type Project, type State, newId } from './state.ts'

export type DeviceOrder = {
  project: Project
  plan: Plan
  metro: Metro
  facility?: Facility
  hostname?: string
  state: DeviceState
  operatingSystem: string
  settings?: Partial<DeviceSettings>
  hardwareReservation?: string
  terminationTime?: string
  addresses?: Families
}

const everyFamily: Families = { publicIpv4: true, privateIpv4: true, publicIpv6: true }

/** Adds a device to a project, with its management addresses. */
export function addDevice(state: State, order: DeviceOrder): Device {
  const { settings, addresses = everyFamily, hardwareReservation, terminationTime, ...wanted } = order
  const id = newId()
  const facility = wanted.facility ?? facilityIn(wanted.metro)
  const device: Device = {
    id,
    ...wanted,
    hostname: wanted.hostname ?? `metal-${id.slice(0, 8)}`,
    facility,
    mac: `02:00:00:${id.slice(0, 6).replace(/..(?=.)/g, '$&:')}`,
    settings: { ...defaultSettings(), ...settings },
    hardwareReservation,
    terminationTime,
    createdAt: state.timestamp(),
    updatedAt: state.timestamp(),
  }
  state.devices.set(id, device)
  addManagement(state, device, addresses)
  return device
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
  state.schedule(state.provisioningMs / 2, step('queued', 'provisioning'))
  state.schedule(state.provisioningMs, step('provisioning', 'active'))
}

/** Sets the state of a device. */
export function setDeviceState(state: State, device: Device, to: DeviceState): void {
  Object.assign(device, { state: to, updatedAt: state.timestamp() })
}

/** Deletes a device at once, or after the time for which the API still shows it. */
export function deprovision(state: State, device: Device): void {
  if (device.settings.locked) throw unprocessable('The device is locked')
  if (device.state === 'deprovisioning') throw unprocessable('The device is being deprovisioned')
  if (state.deletion.devicesMs === 0) return removeDevice(state, device)
  setDeviceState(state, device, 'deprovisioning')
  state.schedule(state.deletion.devicesMs, () => removeDevice(state, device))
}

/** Removes a device; the project keeps the addresses that it reserved. */
export function removeDevice(state: State, device: Device): void {
  removeDeviceParts(state, device)
  state.devices.delete(device.id)
}
