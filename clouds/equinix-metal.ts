import {
  type Cloud,
  CloudError,
  type Fault,
  type Location,
  type Reservation,
  type ReservationRequest,
} from './cloud.ts'
import { listAddresses, type Project } from './equinix-metal/list-addresses.ts'
import { formatTags, hasMarks } from './equinix-metal/tags.ts'
import { isReservation, kindOf, parseLocations, parseReservation, type ReservationBody } from './equinix-metal/wire.ts'
import { vendorHttp, type VendorHttpOptions } from './http.ts'
import type { Refusal } from './http/faults.ts'
import { fieldsOf, itemsOf, textOf } from './loose-json.ts'

const equinixMetalUrl = 'https://api.equinix.com/metal/v1'

export type EquinixMetalOptions = {
  apiKey: { reveal(): string }
  projectId: string
  userAgent: string
  baseUrl?: string | undefined
} & Pick<VendorHttpOptions, 'inFlight' | 'rate' | 'readTimeoutMs' | 'writeTimeoutMs' | 'retryDelayMs' | 'observe'>

/** The addresses of one Equinix Metal project. */
export function equinixMetal({ apiKey, projectId, baseUrl, ...tuning }: EquinixMetalOptions): Cloud {
  const http = vendorHttp({
    ...tuning,
    vendor: 'Equinix Metal',
    baseUrl: baseUrl ?? equinixMetalUrl,
    headers: () => ({ 'x-auth-token': apiKey.reveal() }),
    errorText,
    fault: faultOf,
    hints: {
      auth: `check that the API key is valid and may read and write in project ${projectId}`,
      quota: 'release addresses that nobody needs, or have the limit of the project raised',
    },
  })
  const project = { http, id: projectId }
  return {
    name: 'Equinix Metal',
    reservations: async (marks, signal) =>
      (await listAddresses(project, signal))
        .filter(isReservation)
        .flatMap((item) => parseReservation(item) ?? [])
        .filter((reservation) => hasMarks(reservation.marks, marks)),
    reservation: (id, signal) => findReservation(project, id, signal),
    reserve: (request, signal) => reserve(project, request, signal),
    release: (id, signal) => release(project, id, signal),
    locations: async (signal) =>
      (await Promise.all([listMetros(project, signal), listFacilities(project, signal)])).flat(),
  }
}

async function findReservation({ http }: Project, id: string, signal: AbortSignal): Promise<Reservation | undefined> {
  const answer = await http.call({ name: 'reservation', method: 'GET', path: ['ips', id], accept: [404] }, signal)
  if (answer.status === 404) return undefined
  const item = fieldsOf(answer.body)
  if (isReservation(item)) return parseReservation(item)
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
  const answer = await project.http.call({ name: 'reserve', method: 'POST', path, body, hints }, signal)
  const reservation = parseReservation(answer.body)
  if (!reservation) throw unreadable('reserve', 'an object without an id', 'unknown')
  return reservation
}

/**
 * Looks before it deletes: DELETE on the id of an assignment would take the address from a running machine. That costs
 * one read per release, which nobody waits for.
 */
async function release(project: Project, id: string, signal: AbortSignal): Promise<void> {
  const found = await findReservation(project, id, signal)
  if (!found) return
  try {
    await project.http.call({ name: 'release', method: 'DELETE', path: ['ips', id], accept: [404] }, signal)
  } catch (error) {
    // A 403 after a successful read is either a key that may only read, or an address that went in between.
    const forbidden = error instanceof CloudError && error.fault === 'auth'
    if (!forbidden || (await isListed(project, id, signal))) throw error
  }
}

async function isListed(project: Project, id: string, signal: AbortSignal): Promise<boolean> {
  const items = await listAddresses(project, signal)
  return items.some((item) => item.id === id)
}

async function listMetros({ http }: Project, signal: AbortSignal): Promise<Location[]> {
  const { body } = await http.call({ name: 'locations', method: 'GET', path: ['locations', 'metros'] }, signal)
  const metros = parseLocations('metro', fieldsOf(body).metros)
  if (!metros) throw unreadable('locations', 'no list of metros', 'nothing')
  return metros
}

/** Facilities were announced as switched off in 2023. Where they still answer they are welcome; the metros do not depend on them. */
async function listFacilities({ http, id }: Project, signal: AbortSignal): Promise<Location[]> {
  const path = ['projects', id, 'facilities']
  try {
    const { body } = await http.call({ name: 'facilities', method: 'GET', path, timeoutMs: 3_000 }, signal)
    return parseLocations('facility', fieldsOf(body).facilities) ?? []
  } catch (error) {
    if (error instanceof CloudError) return []
    throw error
  }
}

/** Metros have codes of two letters, facilities longer ones: `da` and `da11`, `ewr1`. */
function placeOf(location: string): { metro: string } | { facility: string } {
  const code = location.trim().toLowerCase()
  return /^[a-z]{2}$/.test(code) ? { metro: code } : { facility: code }
}

/** `errors` is the usual form; `error` comes from whatever checks the key. */
function errorText(body: unknown): string | undefined {
  const { errors, error } = fieldsOf(body)
  const texts = itemsOf(errors)?.flatMap((one) => textOf(one) ?? [])
  return texts && texts.length > 0 ? texts.join('; ') : textOf(error)
}

/** Equinix Metal says 422 for conflicts and quota as well, and which of them only in words that are not documented. */
function faultOf({ name, status, text }: Refusal): Fault | undefined {
  if (status !== 422) return undefined
  // Nothing in a DELETE can be wrong but its time: the block is still assigned to a machine.
  if (name === 'release') return 'conflict'
  // Where the words mislead us nothing is lost: both faults are final, and a person reads the words themselves.
  return /quota|limit|insufficient|exceed|approv|not enough|no available/i.test(text ?? '') ? 'quota' : 'invalid'
}

function unreadable(call: string, what: string, outcome: 'nothing' | 'unknown'): CloudError {
  return new CloudError(`Equinix Metal answered "${call}" with ${what}`, { fault: 'unavailable', outcome })
}
