import { objectOf, textOf } from '../request-body.ts'
import { recordEvent, setDeviceState } from './device-lifecycle.ts'
import { unprocessable } from './errors.ts'
import type { Device, DeviceState, State } from './state.ts'

/** The states of a device during an action and after it. Rescue boots another system, which no state shows. */
const actions: Record<string, { during: DeviceState; after: DeviceState }> = {
  power_on: { during: 'powering_on', after: 'active' },
  power_off: { during: 'powering_off', after: 'inactive' },
  reboot: { during: 'powering_on', after: 'active' },
  rescue: { during: 'powering_on', after: 'active' },
  reinstall: { during: 'reinstalling', after: 'active' },
}

/** Begins the action that a body of `POST /devices/{id}/actions` names; the device completes it after a while. */
export function runAction(state: State, device: Device, sent: unknown): void {
  const body = objectOf(sent)
  const type = textOf(body['type'])
  const action = Object.hasOwn(actions, type) ? actions[type] : undefined
  if (!action) throw unprocessable(`Type must be one of ${Object.keys(actions).join(', ')}`)
  if (device.state !== 'active' && device.state !== 'inactive')
    throw unprocessable(`The device is ${device.state.replace('_', ' ')}`)
  const { operating_system: system, ipxe_script_url: script } = body
  if (type === 'reinstall') {
    if (textOf(system)) device.operatingSystem = textOf(system)
    if (textOf(script)) device.settings.ipxe_script_url = textOf(script)
    device.deployedAtMs = state.now()
  }
  setDeviceState(state, device, action.during)
  recordEvent(state, device, { type: `instance.${type}`, body: `${type.replace('_', ' ')} requested` })
  state.schedule(state.provisioningMs / 2, () => {
    if (device.state === action.during) setDeviceState(state, device, action.after)
  })
}
