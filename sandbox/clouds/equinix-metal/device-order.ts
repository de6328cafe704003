import type { Families } from './assignments.ts'
import type { DeviceOrder } from './device-lifecycle.ts'
import { unprocessable } from './errors.ts'
import { facilities, findFacility, plans } from './locations.ts'
import { findLocation } from './find-location.ts'
import { objectOf, textOf } from '../request-body.ts'
import { listOfText } from './request-body.ts'
import type { DeviceSettings, Project, State } from './state.ts'

/** Reads the body of `POST /projects/{id}/devices`; throws 422 with all of its problems. */
export function readDeviceOrder(state: State, project: Project, sent: unknown): DeviceOrder {
  const body = objectOf(sent)
  const { operating_system: operatingSystem, hardware_reservation_id: hardware, termination_time: ends } = body
  const plan = plans.find(({ slug, id }) => slug === body['plan'] || id === body['plan'])
  const problems = [
    ...(plan
      ? []
      : [body['plan'] === undefined ? "Plan can't be blank" : `Plan ${JSON.stringify(body['plan'])} is unknown`]),
    ...(textOf(operatingSystem) ? [] : ["Operating system can't be blank"]),
    ...(Boolean(body['metro']) === Boolean(body['facility']) ? ['Either metro or facility must be given'] : []),
  ]
  if (!plan || problems.length > 0) throw unprocessable(...problems)
  return {
    project,
    plan,
    ...readLocation(state, body),
    state: 'queued',
    operatingSystem: textOf(operatingSystem),
    settings: readSettings(body),
    addresses: readFamilies(body['ip_addresses']),
    ...(typeof body['hostname'] === 'string' && { hostname: body['hostname'] }),
    ...(typeof hardware === 'string' && hardware !== '' && { hardwareReservation: hardware }),
    ...(typeof ends === 'string' && { terminationTime: ends }),
  }
}

const texts = ['description', 'billing_cycle', 'ipxe_script_url', 'userdata'] as const
const flags = ['locked', 'always_pxe', 'network_frozen', 'spot_instance'] as const

/** Reads the settings of a device from a body. */
export function readSettings(body: Record<string, unknown>): Partial<DeviceSettings> {
  const given: Record<string, unknown> = {}
  for (const name of texts) if (typeof body[name] === 'string') given[name] = body[name]
  for (const name of flags) if (typeof body[name] === 'boolean') given[name] = body[name]
  if (body['tags'] !== undefined) given['tags'] = listOfText(body['tags'], 'tags')
  if (body['customdata'] !== undefined) given['customdata'] = objectOf(body['customdata'])
  return given
}

/** Facilities may be a list in order of preference; `any` means the first one here. */
function readLocation(state: State, { metro, facility }: Record<string, unknown>) {
  const buildings = [facility].flat().map((code) => (code === 'any' ? facilities[0]?.code : code))
  const known = buildings.find((code) => findFacility(textOf(code)))
  return findLocation(state, {
    metro: metro === 'any' ? facilities[0]?.metro.code : metro,
    facility: known ?? facility,
  })
}

/** Without `ip_addresses` a device gets one address of each kind, otherwise those in the list. */
function readFamilies(sent: unknown): Families {
  if (!Array.isArray(sent)) return { publicIpv4: true, privateIpv4: true, publicIpv6: true }
  const wanted = sent.map(objectOf)
  const has = (family: 4 | 6, isPublic: boolean) =>
    wanted.some((one) => one['address_family'] === family && (one['public'] ?? true) === isPublic)
  return { publicIpv4: has(4, true), privateIpv4: has(4, false), publicIpv6: has(6, true) }
}
