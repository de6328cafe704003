import { type Cloud, CloudError, type Reservation, type ReservationRequest } from '../ports/cloud.ts'
import { hasMarks } from '../ports/marks.ts'
import { findAddress, findListed } from './find-address.ts'
import { firstSeen } from './first-seen.ts'
import { listLocations, locationBy } from './locations.ts'
import { mark } from './mark.ts'
import { type Address, parseReservation } from './parse-address.ts'
import { type Project, unreadableError } from './project.ts'

/** The reservations of a project. A deleted one stays in the lists unchanged for about a minute. */
export function reservationsOf(project: Project): Omit<Cloud, 'name' | 'locations'> {
  const seen = firstSeen()
  const dated = (found: Address['reservation']): Reservation => ({ ...found, createdAt: seen.of(found.id) })
  return {
    async reservations(marks, signal) {
      const found = (await project.addresses.fresh(signal)).map(({ reservation }) => reservation)
      seen.keep(found.map(({ id }) => id))
      return found.map(dated).filter((reservation) => hasMarks(reservation.marks, marks))
    },
    async reservation(id, signal) {
      const found = await findAddress(project, { id }, signal)
      return found && dated(found.reservation)
    },
    reserve: async (request, signal) => dated(await reserve(project, request, signal)),
    mark: (id, marks, signal) => mark(project, { id, marks }, signal),
    release: (id, signal) => release(project, id, signal),
  }
}

/** Reserves an address. If the cloud refuses the region, its text may be another name or a former one. */
async function reserve(
  project: Project,
  request: ReservationRequest,
  signal: AbortSignal,
): Promise<Address['reservation']> {
  const { location, marks } = request
  try {
    return await order(project, request, signal)
  } catch (error) {
    const isRefused = error instanceof CloudError && error.fault === 'invalid' && error.outcome === 'nothing'
    const slug = isRefused ? await slugOf(project, location, signal) : undefined
    if (slug === undefined || slug === location) throw error
    return order(project, { location: slug, marks }, signal)
  }
}

async function slugOf(project: Project, word: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    return locationBy(word, await listLocations(project, signal))?.code
  } catch (error) {
    // The caller needs the refusal, not this error.
    if (error instanceof CloudError) return undefined
    throw error
  }
}

async function order(
  { http, id }: Project,
  { location, marks }: ReservationRequest,
  signal: AbortSignal,
): Promise<Address['reservation']> {
  const body = { region: location, tags: marks }
  const hints = { invalid: `check that "${location}" is a region of Cherry Servers and ${id} the id of a project` }
  const path = ['projects', id, 'ips']
  const answer = await http.call({ name: 'reserve', method: 'POST', lane: 'reserve', path, body, hints }, signal)
  const reservation = parseReservation(answer.body)
  if (!reservation) throw unreadableError('reserve', 'an object without an id', 'unknown')
  return reservation
}

/** Reads before it deletes: `/ips` holds servers' own addresses too, and deleting one in use is not documented. */
async function release(project: Project, id: string, signal: AbortSignal): Promise<void> {
  const found = await findAddress(project, { id }, signal)
  if (!found) return
  const { holder } = found.reservation
  if (holder !== undefined) throw inUseError(id, holder)
  try {
    await project.http.call({ name: 'release', method: 'DELETE', path: ['ips', id], accept: [404] }, signal)
  } catch (error) {
    // A 403 after a successful read means a read-only key, or an address that was deleted in between.
    const isForbidden = error instanceof CloudError && error.fault === 'auth'
    if (!isForbidden || (await findListed(project, id, signal))) throw error
  }
}

function inUseError(id: string, holder: string): CloudError {
  const message = `Cherry Servers: address ${id} points to ${holder}, so it is not deleted; remove it there`
  return new CloudError(message, { fault: 'conflict', outcome: 'nothing' })
}
