import { type Allocation, makePool } from '../address-pool.ts'
import { blockOf, ipv6Block } from './blocks.ts'
import { unprocessable } from './errors.ts'
import type { Metro } from './locations.ts'
import type { ReservationOrder } from './reservation-order.ts'
import {
  type Device,
  type Project,
  type Reservation,
  type ReservationType,
  type State,
  assignmentsIn,
  newId,
} from './state.ts'

type Made = Partial<Reservation> & { project: Project; type: ReservationType; quantity: number }

function store(state: State, made: Made): Reservation {
  const reservation: Reservation = {
    id: newId(),
    state: 'created',
    tags: [],
    details: null,
    customdata: {},
    createdAt: state.timestamp(),
    management: false,
    listed: true,
    isDeleting: false,
    ...made,
  }
  state.reservations.set(reservation.id, reservation)
  return reservation
}

/** Reserves a block. Without space, quota or an instant grant it stays pending; a fail-fast request then gets 422. */
export function reserve(state: State, project: Project, order: ReservationOrder): Reservation {
  const { failFast, ...wanted } = order
  const { mode, afterMs } = state.grants
  const isWithinQuota =
    order.type === 'global_ipv4' || countPublicAddresses(state, project) + order.quantity <= state.quota.of(project.id)
  const needsApproval = order.quantity === 256 && state.behaviour.largestBlock === 'approved'
  if (failFast && needsApproval) throw unprocessable('A block of 256 addresses requires approval')
  if (failFast && !isWithinQuota) throw unprocessable('The request exceeds the quota of the project')
  const allocation = isWithinQuota && mode === 'at-once' ? allocateBlock(state, order) : undefined
  const needsReview = !allocation && mode !== 'late'
  if (failFast && needsReview) throw unprocessable('The request requires approval')
  const reservation = store(state, { project, ...wanted, state: 'pending' })
  if (allocation) completeGrant(reservation, allocation)
  else if (isWithinQuota && afterMs !== undefined) state.schedule(afterMs, () => grant(state, reservation))
  return reservation
}

/** Counts the addresses of a project against its quota: granted public ones, without management blocks. */
function countPublicAddresses(state: State, project: Project): number {
  return [...state.reservations.values()]
    .filter((one) => one.project === project && one.type === 'public_ipv4' && !one.management && one.block)
    .reduce((sum, { quantity }) => sum + quantity, 0)
}

/** Grants a pending reservation; returns false when it is no longer pending, or no block is left. */
export function grant(state: State, reservation: Reservation): boolean {
  if (reservation.state !== 'pending' || !state.reservations.has(reservation.id)) return false
  const allocation = allocateBlock(state, reservation)
  if (allocation) completeGrant(reservation, allocation)
  return allocation !== undefined
}

function completeGrant(reservation: Reservation, allocation: Allocation): void {
  Object.assign(reservation, { state: 'created', allocation, block: blockOf(allocation) })
}

function allocateBlock(
  state: State,
  of: { type: ReservationType; metro?: Metro; quantity: number },
): Allocation | undefined {
  const pool = of.metro ? state.addresses.publicIn(of.metro.code) : state.addresses.global
  return pool.allocateFirst(32 - Math.log2(of.quantity))
}

/** Deletes a reservation at once, or after the time for which the API still shows it. */
export function deleteReservation(state: State, reservation: Reservation): void {
  const isAssigned = assignmentsIn(state, reservation).length > 0
  if (reservation.management || (isAssigned && state.behaviour.deleteAssigned === 'refused'))
    throw unprocessable('Cannot delete a reservation while its addresses are assigned')
  detachAll(state, reservation)
  reservation.isDeleting = true
  if (state.deletion.reservationsMs === 0) removeReservation(state, reservation)
  else state.schedule(state.deletion.reservationsMs, () => removeReservation(state, reservation))
}

/** Removes a reservation, even if devices use its addresses. */
export function removeReservation(state: State, reservation: Reservation): void {
  if (!state.reservations.delete(reservation.id)) return
  detachAll(state, reservation)
  reservation.allocation?.free()
}

function detachAll(state: State, reservation: Reservation): void {
  for (const { id } of assignmentsIn(state, reservation)) state.assignments.delete(id)
}

/** Makes a block of public addresses for one device: a /31 unless it requests another size. */
export function publicLink(state: State, { project, metro }: Device, cidr = 31): Reservation | undefined {
  const allocation = state.addresses.publicIn(metro.code).allocateLast(cidr)
  if (!allocation) return undefined
  const own = { management: true, listed: false }
  return store(state, {
    project,
    type: 'public_ipv4',
    quantity: 2 ** (32 - cidr),
    metro,
    allocation,
    block: blockOf(allocation),
    ...own,
  })
}

/** Returns the project's private /25 in a metro. The first device there creates it; a full one gets a successor. */
export function privateBlock(state: State, { project, metro, facility }: Device): Reservation {
  const maxDevices = 128 / 2
  const known = managedBlocks(state, { project, metro, type: 'private_ipv4' })
  const free = known.find((block) => assignmentsIn(state, block).length < maxDevices)
  if (free) return free
  const allocation = state.addresses.private.allocateFirst(25)
  if (!allocation) throw unprocessable('No private IPv4 space is left')
  const inside = makePool([allocation.range])
  const own = { management: true, allocation, block: blockOf(allocation), inside }
  return store(state, { project, type: 'private_ipv4', quantity: 128, metro, facility, ...own })
}

/** Returns the project's IPv6 /56 in a metro, which the first device there creates. */
export function ipv6Space(state: State, { project, metro, facility }: Device): Reservation {
  const [known] = managedBlocks(state, { project, metro, type: 'public_ipv6' })
  if (known) return known
  const block = ipv6Block(state.addresses.nextIpv6())
  return store(state, { project, type: 'public_ipv6', quantity: 1, metro, facility, block, management: true })
}

function managedBlocks(state: State, of: { project: Project; metro: Metro; type: ReservationType }): Reservation[] {
  return [...state.reservations.values()].filter(
    ({ project, metro, type }) => project === of.project && metro === of.metro && type === of.type,
  )
}
