import { type Cloud, CloudError, type Reservation, type ReservationRequest, type Location } from '../ports/cloud.ts'
import { changesOf, hasMarks } from '../ports/marks.ts'
import { isRefused, unlessGone } from '../ports/vendor-errors.ts'
import { requireUnassigned, unreadableError } from './errors.ts'
import { type Address, parseReservation } from './parse-address.ts'
import { type Project, findAddress, findListed } from './project.ts'
import { type Fields, fieldsOf, itemsOf, textOf, idOf } from '../http/loose-json.ts'

/** The reservations of a project. A deleted one stays in the lists unchanged for about a minute. */
export function reservationsOf(project: Project): Omit<Cloud, 'name'> {
  const seen = firstSeen()
  const dated = (found: Address['reservation']): Reservation => ({ ...found, createdAt: seen.of(found.id) })
  return {
    async reservations(marks, signal) {
      const found = (await project.addresses.fresh(signal)).map(({ reservation }) => reservation)
      seen.keepOnly(found.map(({ id }) => id))
      return found.map(dated).filter((reservation) => hasMarks(reservation.marks, marks))
    },
    async reservation(id, signal) {
      const found = await findAddress(project, { id }, signal)
      return found && dated(found.reservation)
    },
    reserve: async (request, signal) => dated(await reserve(project, request, signal)),
    ...changesOf({
      find: (id, signal) => findAddress(project, { id }, signal),
      write({ reservation, tags }, marks, signal) {
        // JSON leaves out undefined, which removes the tag.
        const body = { tags: { ...tags, ...marks } }
        const path = ['ips', reservation.id]
        return project.http.call({ name: 'mark', method: 'PUT', path, body, accept: [404] }, signal)
      },
      requireUnassigned,
      remove(id, signal) {
        const path = ['ips', id]
        const deletion = project.http.call({ name: 'release', method: 'DELETE', path, accept: [404] }, signal)
        return unlessGone(deletion, async () => (await findListed(project, id, signal)) !== undefined)
      },
    }),
    locations: (signal) => listLocations(project, signal),
  }
}

/** Reserves an address. If the provider refuses the region, its text may be another or an old name for one. */
async function reserve(
  project: Project,
  request: ReservationRequest,
  signal: AbortSignal,
): Promise<Address['reservation']> {
  const { location, marks } = request
  try {
    return await order(project, request, signal)
  } catch (error) {
    const slug = isRefused(error, ['invalid']) ? await slugOf(project, location, signal) : undefined
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

/** When we first saw things, because the API does not return when they were created: they are at least that old. */
export type FirstSeen = {
  /** When this was first seen: now, if never before. */
  of(id: string): string
  /** Forgets everything except these, which are all that exist. */
  keepOnly(ids: Iterable<string>): void
}

/** Makes an empty memory. */
export function firstSeen(now: () => Date = () => new Date()): FirstSeen {
  const times = new Map<string, string>()
  return {
    of(id) {
      const time = times.get(id) ?? now().toISOString()
      times.set(id, time)
      return time
    },
    keepOnly(ids) {
      const kept = new Set(ids)
      for (const id of times.keys()) if (!kept.has(id)) times.delete(id)
    },
  }
}

/** The names of regions until 2025, which older settings still contain. */
const formerNames: Record<string, string[]> = {
  'LT-Siauliai': ['EU-Nord-1', 'eu_nord_1'],
  'NL-Amsterdam': ['EU-West-1', 'eu_west_1'],
}

async function listLocations({ http }: Project, signal: AbortSignal): Promise<Location[]> {
  const { body } = await http.call({ name: 'locations', method: 'GET', path: ['regions'] }, signal)
  const regions = parseLocations(body)
  if (!regions) throw unreadableError('locations', 'no list of regions')
  return regions
}

/** The regions in a list; undefined if the value is not a list. */
export function parseLocations(list: unknown): Location[] | undefined {
  const regions = itemsOf(list)
    ?.map(fieldsOf)
    .filter((region) => textOf(region.slug) !== undefined)
  return regions?.map((region) => parseLocation(region, regions))
}

function parseLocation(region: Fields, all: Fields[]): Location {
  const code = textOf(region.slug) ?? ''
  const others = all.filter((other) => other !== region).map(wordsOf)
  const isUnique = (word: string) => word !== code && !others.some((text) => text.includes(word))
  const former = (formerNames[code] ?? []).filter(isUnique)
  return {
    code,
    name: textOf(region.name) ?? code,
    kind: 'region',
    aliases: wordsOf(region).filter(isUnique),
    ...(former.length > 0 && { formerNames: former }),
  }
}

/** The texts by which people name a region. The code of a country with two regions names neither. */
function wordsOf({ id, slug, name, region_iso_2 }: Fields): string[] {
  return [idOf(id), textOf(slug), textOf(name), textOf(region_iso_2)].filter((word) => word !== undefined)
}

/** The region that a text names, ignoring case. */
export function locationBy(word: string, locations: Location[]): Location | undefined {
  const wanted = word.trim().toLowerCase()
  return locations.find(({ code, aliases = [], formerNames = [] }) =>
    [code, ...aliases, ...formerNames].some((name) => name.toLowerCase() === wanted),
  )
}
