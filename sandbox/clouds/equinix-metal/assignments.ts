import { blockOf, ipv6Link } from './blocks.ts'
import { type Cidr, contains, formatAddress, formatNetmask, overlaps, parseCidr, partsOf } from './cidr.ts'
import { unprocessable } from './errors.ts'
import { customdataOf } from './request-body.ts'
import { formatIpv4, parseIpv4 } from '../ipv4.ts'
import { ipv6Space, privateBlock, publicLink, removeReservation } from './reservations.ts'
import {
  type Assignment,
  type Block,
  type Device,
  type Reservation,
  type State,
  assignmentsIn,
  assignmentsOf,
  newId,
  sessionsOf,
} from './state.ts'

type NewAssignment = Omit<Assignment, 'id' | 'createdAt' | 'public' | 'customdata'> & { customdata?: object }

function store(state: State, made: NewAssignment): Assignment {
  const isPublic = made.reservation.type !== 'private_ipv4'
  const assignment = { id: newId(), createdAt: state.timestamp(), public: isPublic, customdata: {}, ...made }
  state.assignments.set(assignment.id, assignment)
  return assignment
}

/** Assigns an address or a block (`203.0.113.7`, `203.0.113.8/31`, an IPv6 /64) of the project's blocks to a device. */
export function assign(state: State, device: Device, sent: { address?: unknown; customdata?: unknown }): Assignment {
  const { address: wanted } = sent
  const customdata = customdataOf(sent.customdata)
  if (typeof wanted !== 'string' || wanted === '') throw unprocessable("Address can't be blank")
  const part = parseCidr(wanted)
  if (!part) throw unprocessable(`Address ${JSON.stringify(wanted)} is neither an address nor a block`)
  const reservation = blockWith(state, device, part)
  if (!reservation) throw unprocessable('Address is not in a block of the project')
  if (isTaken(state, reservation, part)) throw unprocessable('Address has already been taken')
  if (reservation.metro && reservation.metro !== device.metro)
    throw unprocessable(`Address is in metro ${reservation.metro.code}, the device in ${device.metro.code}`)
  const address = formatAddress(part.family, part.address)
  return store(state, { reservation, device, block: blockFor(part), address, management: false, customdata })
}

/** Returns a part of a reservation as the API shows it. */
function blockFor(part: Cidr): Block {
  const network = formatAddress(part.family, part.first)
  const netmask = formatNetmask(part.family, part.length)
  return { family: part.family, network, netmask, cidr: part.length, gateway: network }
}

/** Finds the block that contains a part: one that the project reserved, or its automatic IPv6 block. */
function blockWith(state: State, device: Device, part: Cidr): Reservation | undefined {
  return [...state.reservations.values()].find(({ project, block, management, isDeleting }) => {
    if (project !== device.project || !block || isDeleting || (management && block.family === 4)) return false
    const whole = parseCidr(`${block.network}/${block.cidr}`)
    return whole !== undefined && contains(whole, part)
  })
}

function isTaken(state: State, reservation: Reservation, part: Cidr): boolean {
  return assignmentsIn(state, reservation).some(({ block }) => {
    const taken = parseCidr(`${block.network}/${block.cidr}`)
    return taken !== undefined && overlaps(taken, part)
  })
}

/** Returns the parts of a block, with this prefix length, in which no device has an address. */
export function availableIn(state: State, reservation: Reservation, cidr: number): string[] {
  return freeParts(state, reservation, cidr).map(({ family, first }) => `${formatAddress(family, first)}/${cidr}`)
}

function freeParts(state: State, reservation: Reservation, cidr: number): Cidr[] {
  const { block } = reservation
  const whole = block && parseCidr(`${block.network}/${block.cidr}`)
  return whole ? partsOf(whole, cidr).filter((part) => !isTaken(state, reservation, part)) : []
}

/** The addresses of a new device. The public ones may come from a reservation, and need not be a /31. */
export type Families = {
  publicIpv4: boolean
  privateIpv4: boolean
  publicIpv6: boolean
  publicSize?: number
  reserved?: Reservation[]
}

/** Assigns management addresses to a new device: a public /31, an IPv6 /127 and a private /31. */
export function addManagement(state: State, device: Device, wanted: Families): void {
  const { publicIpv4, privateIpv4, publicIpv6 } = wanted
  if (publicIpv4) addPublicIpv4(state, device, wanted)
  if (publicIpv6) addIpv6(state, device)
  if (!privateIpv4) return
  const within = privateBlock(state, device)
  const allocation = within.inside?.allocateFirst(31)
  if (allocation) addIpv4Link(state, device, { reservation: within, block: blockOf(allocation), free: allocation.free })
}

function addPublicIpv4(state: State, device: Device, { publicSize = 31, reserved = [] }: Families): void {
  if (reserved.length === 0) {
    const reservation = publicLink(state, device, publicSize)
    if (reservation?.block) addIpv4Link(state, device, { reservation, block: reservation.block })
    return
  }
  for (const reservation of reserved) {
    const [part] = freeParts(state, reservation, Math.max(publicSize, reservation.block?.cidr ?? 32))
    if (part) return addIpv4Link(state, device, { reservation, block: blockFor(part) })
  }
  throw unprocessable('The IP reservations have no address left')
}

function addIpv6(state: State, device: Device): void {
  const reservation = ipv6Space(state, device)
  if (!reservation.block) return
  const used = new Set(assignmentsIn(state, reservation).map(({ address }) => address))
  for (let n = 1; ; n += 1) {
    const { block, address } = ipv6Link(reservation.block, n)
    if (!used.has(address)) return void store(state, { reservation, device, block, address, management: true })
  }
}

/** Assigns the second address of a block to a device, because the first is the gateway. A /32 is its own gateway. */
function addIpv4Link(state: State, device: Device, of: Pick<Assignment, 'reservation' | 'block' | 'free'>): void {
  const address = formatIpv4((parseIpv4(of.block.network) ?? 0) + (of.block.cidr === 32 ? 0 : 1))
  store(state, { device, address, management: true, ...of })
}

/** Removes an address from its device; the reservation stays. */
export function detach(state: State, assignment: Assignment): void {
  state.assignments.delete(assignment.id)
  assignment.free?.()
}

/** Removes the addresses of a deleted device, the blocks that were made for it alone, and its BGP sessions. */
export function removeDeviceParts(state: State, device: Device): void {
  for (const assignment of assignmentsOf(state, device)) {
    detach(state, assignment)
    if (assignment.management && !assignment.reservation.listed) removeReservation(state, assignment.reservation)
  }
  for (const { id } of sessionsOf(state, device)) state.sessions.delete(id)
}
