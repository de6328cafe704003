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

/** Puts a device into a project, with the addresses it is managed by. */
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
    settings: { ...usualSettings(), ...settings },
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

function usualSettings(): DeviceSettings {
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

/** Lets a new device go through its states until it is active. */
export function provision(state: State, device: Device): void {
  const step = (from: DeviceState, to: DeviceState) => () => {
    if (device.state === from) setDeviceState(state, device, to)
  }
  state.schedule(state.provisioningMs / 2, step('queued', 'provisioning'))
  state.schedule(state.provisioningMs, step('provisioning', 'active'))
}

/** Puts a device into a state. */
export function setDeviceState(state: State, device: Device, to: DeviceState): void {
  Object.assign(device, { state: to, updatedAt: state.timestamp() })
}

/** Deprovisions a device: gone at once, or still shown for a while. */
export function deprovision(state: State, device: Device): void {
  if (device.settings.locked) throw unprocessable('The device is locked')
  if (device.state === 'deprovisioning') throw unprocessable('The device is being deprovisioned')
  if (state.deletion.devicesMs === 0) return removeDevice(state, device)
  setDeviceState(state, device, 'deprovisioning')
  state.schedule(state.deletion.devicesMs, () => removeDevice(state, device))
}

/** Ends a device; addresses that the project reserved stay with the project. */
export function removeDevice(state: State, device: Device): void {
  removeDeviceParts(state, device)
  state.devices.delete(device.id)
}
