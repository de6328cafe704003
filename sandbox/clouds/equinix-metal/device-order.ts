import type { Families } from './assignments.ts'
import type { DeviceOrder } from './device-lifecycle.ts'
import { unprocessable } from './errors.ts'
import { type Metro, facilities, findFacility, plans } from './locations.ts'
import { findLocation } from './find-location.ts'
import { objectOf, textOf } from '../request-body.ts'
import { customdataOf, listOfText } from './request-body.ts'
import type { DeviceSettings, Project, Reservation, SshKey, State } from './state.ts'

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
  const location = readLocation(state, body)
  return {
    project,
    plan,
    ...location,
    state: 'queued',
    operatingSystem: textOf(operatingSystem),
    settings: readSettings(body),
    addresses: readFamilies(state, { project, metro: location.metro }, body),
    sshKeys: readSshKeys(state, project, body),
    ...readSpotPrice(body['spot_price_max']),
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
  if (body['customdata'] !== undefined) given['customdata'] = customdataOf(body['customdata'])
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

function readSpotPrice(sent: unknown): { spotPriceMax?: number } {
  return sent === undefined || sent === null ? {} : { spotPriceMax: Number(sent) }
}

type Place = { project: Project; metro: Metro }

/** Without `ip_addresses` a device gets one address of each kind, otherwise those in the list. */
function readFamilies(state: State, place: Place, body: Record<string, unknown>): Families {
  const { ip_addresses: sent, public_ipv4_subnet_size: size } = body
  if (!Array.isArray(sent))
    return { publicIpv4: true, privateIpv4: true, publicIpv6: true, ...readPublicSize(size ?? undefined) }
  const wanted = sent.map(objectOf)
  const find = (family: 4 | 6, isPublic: boolean) =>
    wanted.find((one) => one['address_family'] === family && (one['public'] ?? true) === isPublic)
  const publicIpv4 = find(4, true)
  return {
    publicIpv4: publicIpv4 !== undefined,
    privateIpv4: find(4, false) !== undefined,
    publicIpv6: find(6, true) !== undefined,
    ...readPublicSize(publicIpv4?.['cidr'] ?? size ?? undefined),
    reserved: listOfText(publicIpv4?.['ip_reservations'], 'ip_reservations').map((id) =>
      findReserved(state, place, id),
    ),
  }
}

function readPublicSize(sent: unknown): { publicSize?: number } {
  if (sent === undefined) return {}
  const size = Number(sent)
  if (Number.isInteger(size) && size >= 28 && size <= 32) return { publicSize: size }
  throw unprocessable('The size of the public IPv4 subnet must be from 28 to 32')
}

function findReserved({ reservations }: State, { project, metro }: Place, id: string): Reservation {
  const found = reservations.get(id)
  if (found?.project === project && found.state === 'created' && !found.isDeleting && found.metro === metro)
    return found
  throw unprocessable(`IP reservation ${id} is not one of the project in metro ${metro.code}`)
}

/** Returns the keys that a new device gets: those that the order names, otherwise all of the user and the project. */
function readSshKeys({ sshKeys }: State, project: Project, body: Record<string, unknown>): SshKey[] {
  if (body['no_ssh_keys'] === true) return []
  const usable = [...sshKeys.values()].filter((key) => key.project === undefined || key.project === project)
  const named = [body['project_ssh_keys'], body['user_ssh_keys']].flatMap((ids) => listOfText(ids, 'SSH keys'))
  return named.length === 0 ? usable : usable.filter(({ id }) => named.includes(id))
}
