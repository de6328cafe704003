import { isIPv4 } from 'node:net'
import type { Marks, Reservation } from '../cloud.ts'
import { type Fields, fieldsOf, textOf } from '../loose-json.ts'
import { idOf } from './id.ts'

/** A floating IP, with no more of it than is needed: where one goes to a server, the server's passwords come with it. */
export type Address = {
  /** The cloud does not tell since when there is one. */
  reservation: Omit<Reservation, 'createdAt'>
  /** As they came: people write there too, and their tags go back as they were. */
  tags: Fields
  /** What it goes to. */
  holder: string | undefined
}

/** The floating IP in an answer; undefined where it is something else. */
export function parseAddress(body: unknown): Address | undefined {
  const item = fieldsOf(body)
  const reservation = item.type === 'floating-ip' ? parseReservation(item) : undefined
  return reservation && { reservation, tags: fieldsOf(item.tags), holder: holderOf(item) }
}

/** What else an object of `/ips` is, for people. */
export function kindOf(body: unknown): string {
  const type = textOf(fieldsOf(body).type)
  return type === undefined ? 'of no known type' : `an address of type ${type}`
}

/** The reservation in an answer; undefined where it has no id to know it by. */
export function parseReservation(body: unknown): Address['reservation'] | undefined {
  const item = fieldsOf(body)
  const id = textOf(item.id)
  if (id === undefined) return undefined
  const address = textOf(item.address) ?? ''
  const isGranted = isIPv4(address) && address !== '0.0.0.0'
  return {
    id,
    address: isGranted ? address : undefined,
    state: isGranted ? 'reserved' : 'requested',
    location: textOf(fieldsOf(item.region).slug),
    marks: marksOf(fieldsOf(item.tags)),
  }
}

function marksOf(tags: Fields): Marks {
  const pairs = Object.entries(tags).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : []))
  return Object.fromEntries(pairs) as Marks
}

/** That it goes nowhere may be said by nothing, by null, and by the id 0. */
function holderOf({ targeted_to, routed_to }: Fields): string | undefined {
  const server = idOf(fieldsOf(targeted_to).id)
  if (server !== undefined) return `server ${server}`
  const route = fieldsOf(routed_to)
  const address = idOf(route.id)
  return address === undefined ? undefined : `address ${textOf(route.address) ?? address}`
}
