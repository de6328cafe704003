import { blockOf, ipv6Link } from './blocks.ts'
import { unprocessable } from './errors.ts'
import { formatIpv4, netmask, parseIpv4, parseRange, sizeOf, split } from '../ipv4.ts'
import { ipv6Space, privateBlock, publicLink, removeReservation } from './reservations.ts'
import {
  type Assignment,
  type Device,
  type Reservation,
  type State,
  assignmentsIn,
  assignmentsOf,
  newId,
  sessionsOf,
} from './state.ts'

function store(state: State, made: Omit<Assignment, 'id' | 'createdAt' | 'public'>): Assignment {
  const isPublic = made.reservation.type !== 'private_ipv4'
  const assignment = { id: newId(), createdAt: state.timestamp(), public: isPublic, ...made }
  state.assignments.set(assignment.id, assignment)
  return assignment
}

/** Assigns an address (`203.0.113.7` or `203.0.113.7/32`) of the project's blocks to a device in the same metro. */
export function assign(state: State, device: Device, wanted: unknown): Assignment {
  if (typeof wanted !== 'string' || wanted === '') throw unprocessable("Address can't be blank")
  const number = parseIpv4(wanted.replace(/\/32$/, ''))
  if (number === undefined) throw unprocessable(`Address ${JSON.stringify(wanted)} is not a single IPv4 address`)
  const reservation = blockWith(state, device, number)
  if (!reservation) throw unprocessable('Address is not in a block of the project')
  const address = formatIpv4(number)
  if (assignmentsIn(state, reservation).some((taken) => taken.address === address))
    throw unprocessable('Address has already been taken')
  if (reservation.metro && reservation.metro !== device.metro)
    throw unprocessable(`Address is in metro ${reservation.metro.code}, the device in ${device.metro.code}`)
  const block = { family: 4 as const, network: address, netmask: netmask(32), cidr: 32, gateway: address }
  return store(state, { reservation, device, block, address, management: false })
}

function blockWith(state: State, device: Device, address: number): Reservation | undefined {
  return [...state.reservations.values()].find(
    ({ project, block, management, isDeleting }) =>
      project === device.project && !management && !isDeleting && block?.family === 4 && isIn(block, address),
  )
}

function isIn({ network, cidr }: { network: string; cidr: number }, address: number): boolean {
  const { first } = parseRange(`${network}/${cidr}`)
  return address >= first && address < first + sizeOf(cidr)
}

/** Returns the parts of a block, with this prefix length, in which no device has an address. */
export function availableIn(state: State, reservation: Reservation, cidr: number): string[] {
  const { block } = reservation
  if (block?.family !== 4 || !Number.isInteger(cidr) || cidr < block.cidr || cidr > 32) return []
  const taken = assignmentsIn(state, reservation).map(({ address }) => parseIpv4(address) ?? -1)
  return split(parseRange(`${block.network}/${block.cidr}`), cidr)
    .filter(({ first }) => !taken.some((address) => address >= first && address < first + sizeOf(cidr)))
    .map(({ first }) => `${formatIpv4(first)}/${cidr}`)
}

export type Families = { publicIpv4: boolean; privateIpv4: boolean; publicIpv6: boolean }

/** Assigns management addresses to a new device: a public /31, an IPv6 /127 and a private /31. */
export function addManagement(state: State, device: Device, { publicIpv4, privateIpv4, publicIpv6 }: Families): void {
  const { project, metro } = device
  const reservation = publicIpv4 ? publicLink(state, project, metro) : undefined
  if (reservation?.block) addIpv4Link(state, device, { reservation, block: reservation.block })
  if (publicIpv6) addIpv6(state, device)
  if (!privateIpv4) return
  const within = privateBlock(state, project, metro)
  const allocation = within.inside?.allocateFirst(31)
  if (allocation) addIpv4Link(state, device, { reservation: within, block: blockOf(allocation), free: allocation.free })
}

function addIpv6(state: State, device: Device): void {
  const reservation = ipv6Space(state, device.project, device.metro)
  if (!reservation.block) return
  const used = new Set(assignmentsIn(state, reservation).map(({ address }) => address))
  for (let n = 1; ; n += 1) {
    const { block, address } = ipv6Link(reservation.block, n)
    if (!used.has(address)) return void store(state, { reservation, device, block, address, management: true })
  }
}

/** Assigns the second address of a /31 to a device; the first is its gateway. */
function addIpv4Link(state: State, device: Device, of: Pick<Assignment, 'reservation' | 'block' | 'free'>): void {
  const address = formatIpv4((parseIpv4(of.block.network) ?? 0) + 1)
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
