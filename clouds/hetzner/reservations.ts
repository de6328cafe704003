import { createHash } from 'node:crypto'
import { type Fields, fieldsOf, textOf, idOf } from '../http/loose-json.ts'
import { type Cloud, CloudError, type Location, type Reservation, type ReservationRequest } from '../ports/cloud.ts'
import { changesOf, hasMarks } from '../ports/marks.ts'
import { isRefused } from '../ports/vendor-errors.ts'
import { type FloatingIp, parseFloatingIp, labelsOf } from './parse-floating-ip.ts'
import { refusal, unreadableError, errorCode, requireSameId, requireUnassigned } from './errors.ts'
import { type Project, readList } from './project.ts'
import type { Lane } from '../http/lanes.ts'
import type { VendorCall } from '../http/request.ts'

/** The floating IPs of a project. */
export function reservationsOf(project: Project): Omit<Cloud, 'name'> {
  return {
    reservations: async (marks, signal) =>
      (await project.addresses.fresh(signal))
        .map(({ reservation }) => reservation)
        .filter((reservation) => hasMarks(reservation.marks, marks)),
    reservation: async (id, signal) => (await findFloatingIp(project, { id }, signal))?.reservation,
    isReserveIdempotent: true,
    reserve: (request, signal) => reserve(project, { ...request, name: nameOf(request) }, signal),
    ...changesOf({
      find: (id, signal) => findFloatingIp(project, { id }, signal),
      write({ reservation, labels }, marks, signal) {
        // JSON leaves out undefined, which removes the label.
        const body = { labels: { ...labels, ...labelsOf(marks) } }
        const path = ['floating_ips', reservation.id]
        return unlessGone(project.http.call({ name: 'mark', method: 'PUT', path, body }, signal))
      },
      requireUnassigned,
      remove(id, signal) {
        const hints = { conflict: 'unassign it, and end its protection against deletion' }
        const path = ['floating_ips', id]
        return unlessGone(project.http.call({ name: 'release', method: 'DELETE', path, hints }, signal))
      },
    }),
    async problems(signal) {
      const blocked = (await project.addresses.recent(signal)).filter(({ isBlocked }) => isBlocked)
      return new Map(blocked.map(({ reservation }) => [reservation.id, 'it is blocked']))
    },
    locations: (signal) => listLocations(project, signal),
  }
}

/**
 * Creates an address whose name derives from its order and its marks. The name is unique in the project, so two
 * processes, or an attempt after a lost answer, get the same address. Marks alone do not distinguish orders: an address
 * that was moved keeps its previous Service's marks.
 */
async function reserve(project: Project, request: NamedRequest, signal: AbortSignal): Promise<Reservation> {
  const { name } = request
  try {
    return await create(project, request, signal)
  } catch (error) {
    if (!mayBeTaken(error)) throw error
    const taken = await findNamed(project, name, signal)
    if (!taken) throw error
    if (hasMarks(taken.reservation.marks, request.marks)) return taken.reservation
    // It was ours, and is now retained or another owner's. Every attempt of the order derives the same next name.
    return reserve(project, { ...request, name: `${nameOf(request)}-${taken.reservation.id}` }, signal)
  }
}

/**
 * Whether an earlier attempt of a refused order may have got the address. At the project's limit, or if the provider
 * has no other address, the API does not report that the name is taken.
 */
function mayBeTaken(error: unknown): boolean {
  return isRefused(error, ['conflict', 'quota', 'unavailable']) && error.code !== undefined
}

type NamedRequest = ReservationRequest & { name: string }

function nameOf({ marks, family, order }: ReservationRequest): string {
  const text = JSON.stringify([order, Object.entries(marks).toSorted(([one], [other]) => (one < other ? -1 : 1))])
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 20)
  return `eip-admission-${hash}${family === 'ipv6' ? '-ipv6' : ''}`
}

async function create(
  { http }: Project,
  { name, location, marks, family = 'ipv4' }: NamedRequest,
  signal: AbortSignal,
): Promise<Reservation> {
  const body = { type: family, name, home_location: location, labels: labelsOf(marks) }
  const hints = { invalid: `check that "${location}" is a location of Hetzner Cloud` }
  const path = ['floating_ips']
  const answer = await http.call({ name: 'reserve', method: 'POST', lane: 'reserve', path, body, hints }, signal)
  const created = parseFloatingIp(fieldsOf(answer.body).floating_ip)
  if (!created) throw unreadableError('reserve', 'an object without an id and an address', 'unknown')
  return created.reservation
}

async function findNamed(project: Project, name: string, signal: AbortSignal): Promise<FloatingIp | undefined> {
  const list = { name: 'reservations', field: 'floating_ips', query: { name }, keep: parseFloatingIp }
  return (await readList(project.http, list, signal))[0]
}

/** Accepts that the address is already deleted. A 404 from a proxy proves nothing. */
async function unlessGone(change: Promise<unknown>): Promise<void> {
  await change.catch((error: unknown) => {
    if (!(error instanceof CloudError) || error.code !== 'not_found') throw error
  })
}

/** The locations in which addresses can have their home. Servers elsewhere can use them, too. */
async function listLocations({ http }: Project, signal: AbortSignal): Promise<Location[]> {
  return readList(http, { name: 'locations', field: 'locations', keep: parseLocation }, signal)
}

function parseLocation({ id, name, city }: Fields): Location | undefined {
  const code = textOf(name)
  if (code === undefined) return undefined
  const aliases = [textOf(city), idOf(id)].filter((word) => word !== undefined)
  return { code, name: textOf(city) ?? code, kind: 'location', aliases }
}

/** A floating IP, read live; undefined if the provider answers that it does not exist. */
export async function findFloatingIp(
  project: Project,
  { id, lane = 'read' }: { id: string; lane?: Lane },
  signal: AbortSignal,
): Promise<FloatingIp | undefined> {
  const call: VendorCall = { name: 'reservation', method: 'GET', lane, path: ['floating_ips', id], accept: [404] }
  const { status, body } = await project.http.call(call, signal)
  if (status === 404) {
    // A 404 may also come from a proxy.
    if (errorCode(body) === 'not_found') return undefined
    throw unreadableError('reservation', '404 and another reason than "not_found"')
  }
  const found = parseFloatingIp(fieldsOf(body).floating_ip)
  if (!found) throw refusal(`${id} is no floating IP with an address`, 'invalid')
  requireSameId(found.reservation, id)
  return found
}
