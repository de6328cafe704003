import { isIPv4 } from 'node:net'
import { firstHostOf } from '../../lib/ip-address.ts'
import type { Reservation } from '../ports/cloud.ts'
import { type Fields, fieldsOf, textOf } from '../http/loose-json.ts'
import { marksOf } from './labels.ts'
import { idOf } from './id.ts'

/** The parts of a floating IP that we need. */
export type FloatingIp = {
  reservation: Reservation & { address: string }
  /** As the cloud returned them: a PUT replaces them all. */
  labels: Fields
  /** The vendor does that when an address is abused: its traffic goes nowhere. */
  isBlocked: boolean
  /** The id of the server that its traffic goes to. */
  server: string | undefined
  /** Its home location and the network zone of that. */
  home: string[]
}

/** The address in a response; undefined if there is none. A Service has the first address of an IPv6 network, for ever. */
export function parseFloatingIp(body: unknown): FloatingIp | undefined {
  const item = fieldsOf(body)
  const id = idOf(item.id)
  const text = textOf(item.ip) ?? ''
  const address = isIPv4(text) ? text : firstHostOf(text)
  if (id === undefined || address === undefined) return undefined
  const labels = fieldsOf(item.labels)
  const server = idOf(item.server)
  const location = fieldsOf(item.home_location)
  return {
    reservation: {
      id,
      address,
      state: 'reserved',
      location: textOf(location.name),
      marks: marksOf(labels),
      ...(server !== undefined && { holder: `server ${server}` }),
      createdAt: textOf(item.created),
    },
    labels,
    isBlocked: item.blocked === true,
    server,
    home: [location.name, location.network_zone].flatMap((place) => textOf(place) ?? []),
  }
}
