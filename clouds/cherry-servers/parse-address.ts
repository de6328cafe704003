import { isIPv4 } from 'node:net'
import type { Marks, Reservation } from '../ports/cloud.ts'
import { type Fields, fieldsOf, textOf, idOf } from '../http/loose-json.ts'

/** The parts of a floating IP that we need: if it points to a server, the response contains the server's passwords. */
export type Address = {
  /** The API does not return the time of creation. */
  reservation: Omit<Reservation, 'createdAt'>
  /** As the API returned them: people's tags must be written back unchanged. */
  tags: Fields
  /** The id of the server that gets its traffic, directly or through the server's own address. */
  server: string | undefined
}

/** The floating IP in a response; undefined if the response has something else. */
export function parseAddress(body: unknown): Address | undefined {
  const item = fieldsOf(body)
  const reservation = item.type === 'floating-ip' ? parseReservation(item) : undefined
  return reservation && { reservation, tags: fieldsOf(item.tags), server: serverOf(item) }
}

/** The kind of another object of `/ips`, for messages. */
export function kindOf(body: unknown): string {
  const type = textOf(fieldsOf(body).type)
  return type === undefined ? 'of no known type' : `an address of type ${type}`
}

/** The reservation in a response; undefined if it has no id. */
export function parseReservation(body: unknown): Address['reservation'] | undefined {
  const item = fieldsOf(body)
  const id = textOf(item.id)
  if (id === undefined) return undefined
  const address = textOf(item.address) ?? ''
  const holder = holderOf(item)
  const isGranted = isIPv4(address) && address !== '0.0.0.0'
  return {
    id,
    address: isGranted ? address : undefined,
    state: isGranted ? 'reserved' : 'requested',
    location: textOf(fieldsOf(item.region).slug),
    ...(holder !== undefined && { holder }),
    marks: marksOf(fieldsOf(item.tags)),
  }
}

function marksOf(tags: Fields): Marks {
  const pairs = Object.entries(tags).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : []))
  return Object.fromEntries(pairs) as Marks
}

/** An address that points nowhere lacks the field, or has null or the id 0. */
function holderOf({ targeted_to, routed_to }: Fields): string | undefined {
  const server = idOf(fieldsOf(targeted_to).id)
  if (server !== undefined) return `server ${server}`
  const route = fieldsOf(routed_to)
  const address = idOf(route.id)
  return address === undefined ? undefined : `address ${textOf(route.address) ?? address}`
}

/** If an address points to a server, the API sets both fields. If it is routed to a subnet, perhaps only the route. */
function serverOf({ targeted_to, routed_to }: Fields): string | undefined {
  const route = fieldsOf(routed_to)
  const servers = [targeted_to, route.targeted_to, route.assigned_to]
  return servers.map((server) => idOf(fieldsOf(server).id)).find(Boolean)
}
