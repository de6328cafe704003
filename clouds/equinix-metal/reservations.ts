import { type Cloud, CloudError, type Reservation, type ReservationRequest } from '../ports/cloud.ts'
import { fieldsOf } from '../http/loose-json.ts'
import { hasMarks } from '../ports/marks.ts'
import { mark } from './mark.ts'
import { type Project, projectHints, unreadableError } from './project.ts'
import { formatTags } from './tags.ts'
import { type List, wholeList } from './whole-list.ts'
import { isReservation, kindOf, parseReservation, publicTypes, type ReservationBody } from './parse-reservation.ts'

/** The reservations of a project. */
export function reservationsOf(project: Project): Omit<Cloud, 'name' | 'locations'> {
  return {
    reservations: async (marks, signal) =>
      (await wholeList(project.http, addressesOf(project), signal))
        .filter(isReservation)
        .flatMap((item) => parseReservation(item, project) ?? [])
        .filter((reservation) => hasMarks(reservation.marks, marks)),
    reservation: (id, signal) => findReservation(project, id, signal),
    reserve: (request, signal) => reserve(project, request, signal),
    mark: (id, marks, signal) => mark(project, { id, marks }, signal),
    release: (id, signal) => release(project, id, signal),
  }
}

/** The list of all public addresses of a project. */
export function addressesOf({ id }: Project): List {
  const query = { types: publicTypes, per_page: 100 }
  return { name: 'reservations', path: ['projects', id, 'ips'], query, hints: projectHints, field: 'ip_addresses' }
}

async function findReservation(project: Project, id: string, signal: AbortSignal): Promise<Reservation | undefined> {
  const answer = await project.http.call(
    { name: 'reservation', method: 'GET', path: ['ips', id], accept: [404] },
    signal,
  )
  if (answer.status === 404) return undefined
  const item = fieldsOf(answer.body)
  if (isReservation(item)) return parseReservation(item, project)
  throw new CloudError(`Equinix Metal: ${id} is ${kindOf(item)}, not a reservation of public addresses`, {
    fault: 'invalid',
    outcome: 'nothing',
  })
}

async function reserve(
  project: Project,
  { location, marks }: ReservationRequest,
  signal: AbortSignal,
): Promise<Reservation> {
  const body: ReservationBody = {
    type: 'public_ipv4',
    quantity: 1,
    ...placeOf(location),
    details: 'Reserved by eip-admission',
    tags: formatTags(marks),
    fail_on_approval_required: true,
  }
  const hints = {
    invalid: `check that "${location}" is a metro of Equinix Metal and ${project.id} the id of a project`,
  }
  const path = ['projects', project.id, 'ips']
  const answer = await project.http.call(
    { name: 'reserve', method: 'POST', lane: 'reserve', path, body, hints },
    signal,
  )
  const reservation = parseReservation(answer.body, project)
  if (!reservation) throw unreadableError('reserve', 'an object without an id', 'unknown')
  return reservation
}

/**
 * Reads before it deletes: DELETE with the id of an assignment would take the address from a running machine. No user waits
 * for this extra read.
 */
async function release(project: Project, id: string, signal: AbortSignal): Promise<void> {
  const found = await findReservation(project, id, signal)
  if (!found) return
  try {
    await project.http.call({ name: 'release', method: 'DELETE', path: ['ips', id], accept: [404] }, signal)
  } catch (error) {
    // A 403 after a successful read means a read-only key, or an address that was deleted in between.
    const isForbidden = error instanceof CloudError && error.fault === 'auth'
    if (!isForbidden || (await isListed(project, id, signal))) throw error
  }
}

async function isListed(project: Project, id: string, signal: AbortSignal): Promise<boolean> {
  const items = await wholeList(project.http, addressesOf(project), signal)
  return items.some((item) => item.id === id)
}

/** The codes of metros have two letters, those of facilities more: `da`, and `da11` or `ewr1`. */
function placeOf(location: string): { metro: string } | { facility: string } {
  const code = location.trim().toLowerCase()
  return /^[a-z]{2}$/.test(code) ? { metro: code } : { facility: code }
}
