import { isIPv4 } from 'node:net'
import type { Reservation } from '../ports/cloud.ts'
import { type Fields, fieldsOf, textOf } from '../http/loose-json.ts'
import { marksOf } from './labels.ts'
import { idOf } from './id.ts'

/** The parts of a floating IP that we need. */
export type FloatingIp = {
  reservation: Reservation & { address: string }
  /** As the cloud returned them: a PUT replaces them all. */
  labels: Fields
  /** The id of the server that its traffic goes to. */
  server: string | undefined
}

/** The IPv4 address in a response; undefined if it is something else, such as an IPv6 network. */
export function parseFloatingIp(body: unknown): FloatingIp | undefined {
  const item = fieldsOf(body)
  const id = idOf(item.id)
  const address = textOf(item.ip) ?? ''
  if (id === undefined || item.type !== 'ipv4' || !isIPv4(address)) return undefined
  const labels = fieldsOf(item.labels)
  const server = idOf(item.server)
  return {
    reservation: {
      id,
      address,
      state: 'reserved',
      location: textOf(fieldsOf(item.home_location).name),
      marks: marksOf(labels),
      ...(server !== undefined && { holder: `server ${server}` }),
      createdAt: textOf(item.created),
    },
    labels,
    server,
  }
}
