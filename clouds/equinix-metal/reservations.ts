import {
  type Cloud,
  CloudError,
  type Location,
  type Marked,
  type Reservation,
  type ReservationRequest,
} from '../ports/cloud.ts'
import { type Fields, fieldsOf, itemsOf, textOf, textsOf } from '../http/loose-json.ts'
import type { VendorCall } from '../http/request.ts'
import { changedInTurn, hasMarks } from '../ports/marks.ts'
import { unlessGone } from '../ports/vendor-errors.ts'
import { refusal, requireProject, requireSameId, requireUnassigned, unreadableError } from './errors.ts'
import { type Project, projectHints, type List, wholeList } from './project.ts'
import {
  isReservation,
  kindOf,
  parseReservation,
  projectOf,
  publicTypes,
  type ReservationBody,
  changeTags,
  formatTags,
  parseTags,
} from './parse-reservation.ts'

/** The reservations of a project. */
export function reservationsOf(project: Project): Omit<Cloud, 'name'> {
  return changedInTurn({
    reservations: async (marks, signal) =>
      (await wholeList(project.http, addressesOf(project), signal))
        .filter(isReservation)
        .flatMap((item) => parseReservation(item, project) ?? [])
        .filter((reservation) => hasMarks(reservation.marks, marks)),
    reservation: (id, signal) => findReservation(project, id, signal),
    reserve: (request, signal) => reserve(project, request, signal),
    // Changes the tags of a reservation. A PATCH replaces the whole list, which people edit too, so we read it first.
    async mark({ id, marks: known }, marks, signal) {
      const path = ['ips', id]
      const { body } = await project.http.call({ name: 'reservation', method: 'GET', path, accept: [404] }, signal)
      const item = fieldsOf(body)
      const before = textsOf(item.tags)
      if (!isReservation(item)) return
      requireProject(projectOf(item), project.id, id)
      if (!hasMarks(parseTags(before), known)) return
      const tags = changeTags(before, marks)
      if (tags.toSorted().join('\n') === before.toSorted().join('\n')) return
      await project.http.call({ name: 'mark', method: 'PATCH', path, body: { tags }, accept: [404] }, signal)
    },
    release: (reservation, signal) => release(project, reservation, signal),
    locations: (signal) => listLocations(project, signal),
  })
}

/** The list of all public addresses of a project. */
export function addressesOf({ id }: Project): List {
  // A single text, as all of the vendor's clients sent it for years. A server may keep only the last of a repeated key.
  const query = { types: publicTypes.join(','), per_page: 100 }
  return { name: 'reservations', path: ['projects', id, 'ips'], query, hints: projectHints, field: 'ip_addresses' }
}

async function findReservation(project: Project, id: string, signal: AbortSignal): Promise<Reservation | undefined> {
  const item = await findItem(project, { name: 'reservation', id }, signal)
  return item && parseReservation(item, project)
}

/** A reservation as the API returns it, read live; undefined if the provider answers that it does not exist. */
export async function findItem(
  project: Project,
  { id, ...call }: Pick<VendorCall, 'name' | 'lane' | 'query'> & { id: string },
  signal: AbortSignal,
): Promise<Fields | undefined> {
  const whole: VendorCall = { ...call, method: 'GET', path: ['ips', id], accept: [404] }
  const { status, body } = await project.http.call(whole, signal)
  if (status === 404) return undefined
  const item = fieldsOf(body)
  if (!isReservation(item)) throw refusal(`${id} is ${kindOf(item)}, not a reservation of public addresses`, 'invalid')
  requireSameId({ id: item.id }, id)
  requireProject(projectOf(item), project.id, id)
  return item
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
 * Reads before it deletes: a DELETE with the id of an assignment would take the address from a running machine. No user
 * waits for this extra read.
 */
async function release(project: Project, { id, marks }: Marked, signal: AbortSignal): Promise<void> {
  const found = await findReservation(project, id, signal)
  if (!found || !hasMarks(found.marks, marks)) return
  requireUnassigned(found)
  const path = ['ips', id]
  const deletion = project.http.call({ name: 'release', method: 'DELETE', path, accept: [404] }, signal)
  await unlessGone(deletion, () => isListed(project, id, signal))
}

async function isListed(project: Project, id: string, signal: AbortSignal): Promise<boolean> {
  const items = await wholeList(project.http, addressesOf(project), signal)
  return items.some((item) => item.id === id)
}

/** The codes of metros have two letters, facility codes have more: `da`, but `da11` or `ewr1`. */
function placeOf(location: string): { metro: string } | { facility: string } {
  const code = location.trim().toLowerCase()
  return /^[a-z]{2}$/.test(code) ? { metro: code } : { facility: code }
}

async function listLocations(project: Project, signal: AbortSignal): Promise<Location[]> {
  return (await Promise.all([listMetros(project, signal), listFacilities(project, signal)])).flat()
}

async function listMetros({ http }: Project, signal: AbortSignal): Promise<Location[]> {
  const { body } = await http.call({ name: 'locations', method: 'GET', path: ['locations', 'metros'] }, signal)
  const metros = parseLocations('metro', fieldsOf(body).metros)
  if (!metros) throw unreadableError('locations', 'no list of metros', 'nothing')
  return metros
}

/** Equinix announced in 2023 that facilities will end. We list them while they exist; an error here does not affect metros. */
async function listFacilities({ http, id }: Project, signal: AbortSignal): Promise<Location[]> {
  const path = ['projects', id, 'facilities']
  try {
    const { body } = await http.call({ name: 'facilities', method: 'GET', path }, signal)
    return parseLocations('facility', fieldsOf(body).facilities) ?? []
  } catch (error) {
    if (error instanceof CloudError) return []
    throw error
  }
}

/** The places in a list of metros or facilities; undefined if the value is not a list. */
export function parseLocations(kind: 'metro' | 'facility', list: unknown): Location[] | undefined {
  return itemsOf(list)
    ?.map(fieldsOf)
    .flatMap((place) => {
      const code = textOf(place.code)?.toLowerCase()
      return code === undefined ? [] : { code, name: textOf(place.name) ?? code, kind }
    })
}
