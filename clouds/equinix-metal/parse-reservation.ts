import { isIPv4 } from 'node:net'
import type { Reservation, Marks } from '../ports/cloud.ts'
import { type Fields, fieldsOf, itemsOf, textOf, textsOf } from '../http/loose-json.ts'
import { marksAmong } from '../ports/marks.ts'
import type { ProjectOptions } from './project.ts'

/** The kinds of block with public IPv4 addresses; the rest of a project's list is private, IPv6 or VRF. */
export const publicTypes = ['public_ipv4', 'global_ipv4']

export type ReservationBody = {
  type: 'public_ipv4'
  quantity: 1
  metro?: string
  facility?: string
  details: string
  tags: string[]
  /** Otherwise, when over quota, the API opens a support ticket and returns a reservation without an address. */
  fail_on_approval_required: true
}

/** Whether an object of `/ips` is a block of public addresses. Assignments have the same path and kind of id. */
export function isReservation(item: Fields): boolean {
  return publicTypes.includes(textOf(item.type) ?? '') && textOf(item.id) !== undefined && !item.assigned_to
}

/** The kind of another object of `/ips`, for messages. */
export function kindOf(item: Fields): string {
  if (item.assigned_to || item.type === 'IPAssignment') return 'the assignment of an address to a machine'
  return textOf(item.type) ? `a block of type ${String(item.type)}` : 'of no known type'
}

/** The id of an object's project. */
export function projectOf({ project }: Fields): string | undefined {
  const { id, href } = fieldsOf(project)
  return textOf(id) ?? /\/projects\/([^/]+)$/.exec(textOf(href) ?? '')?.[1]
}

/** The reservation in a response; undefined if it has no id. */
export function parseReservation(body: unknown, options: ProjectOptions = {}): Reservation | undefined {
  const item = fieldsOf(body)
  const id = textOf(item.id)
  if (id === undefined) return undefined
  const state = stateOf(item)
  return {
    id,
    address: state === 'reserved' ? textOf(item.address) : undefined,
    ...(typeof item.cidr === 'number' && item.cidr < 32 ? { prefixLength: item.cidr } : {}),
    state,
    location: locationOf(item, options),
    ...(isAssigned(item) && { holder: 'a machine of the project' }),
    marks: parseTags(textsOf(item.tags)),
    createdAt: textOf(item.created_at),
  }
}

/** Whether the only address of a block is assigned to a machine. The list does not say which address of a larger block is. */
function isAssigned({ assignments, cidr }: Fields): boolean {
  return cidr === 32 && (itemsOf(assignments) ?? []).length > 0
}

/** A block that waits for approval has null, an empty string or 0.0.0.0 as its address. */
function stateOf({ state, address }: Fields): Reservation['state'] {
  if (state === 'denied') return 'denied'
  const granted = state === 'created' || textOf(state) === undefined
  return granted && isIPv4(textOf(address) ?? '') && address !== '0.0.0.0' ? 'reserved' : 'requested'
}

/** The metro, or the facility's metro for very old blocks; a global address has no location. */
function locationOf(item: Fields, { places }: ProjectOptions): string | undefined {
  const facility = fieldsOf(item.facility)
  const metro = textOf(fieldsOf(item.metro).code) ?? textOf(fieldsOf(facility.metro).code)
  const own = textOf(facility.code)
  return (places === 'facilities' ? (own ?? metro) : (metro ?? own))?.toLowerCase()
}

/** Marks in the form that Equinix Metal stores: a list of texts, `key=value`, or only the key if the value is empty. */
export function formatTags(marks: Marks): string[] {
  return Object.entries(marks).map(([key, value]) => (value === '' ? key : `${key}=${value}`))
}

/** The marks in a list of tags. The first `=` ends the key: base64 values may end with more of them. */
export function parseTags(tags: readonly string[]): Marks {
  return marksAmong(tags.map((tag) => tag.split(/=(.*)/s, 2)).map(([key = '', value = '']) => [key, value]))
}

/** A list of tags with some marks changed. An undefined mark is removed, and other tags stay. */
export function changeTags(tags: readonly string[], marks: Record<string, string | undefined>): string[] {
  const others = tags.filter((tag) => !((tag.split('=')[0] ?? '') in marks))
  const kept = Object.entries(marks).flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]))
  return [...others, ...formatTags(Object.fromEntries(kept))]
}
