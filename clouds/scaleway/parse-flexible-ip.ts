import { isIPv4 } from 'node:net'
import type { Reservation } from '../ports/cloud.ts'
import { fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import { marksOf, reservedAtOf } from './tags.ts'

/** The parts of a flexible IP that we need. */
export type FlexibleIp = {
  reservation: Reservation & { address: string }
  /** As the cloud returned them: a PATCH replaces them all. */
  tags: string[]
  /** The id of the server that it is attached to; undefined while that changes. */
  server: string | undefined
  /** Whether it is being attached or detached: the cloud refuses every other change. */
  isChanging: boolean
  /** Whether an attachment failed. */
  isBroken: boolean
}

/** The IPv4 address in a response; undefined if it is something else, such as an IPv6 network. */
export function parseFlexibleIp(body: unknown): FlexibleIp | undefined {
  const item = fieldsOf(body)
  const id = textOf(item.id)
  const address = textOf(item.ip_address)?.replace(/\/32$/, '') ?? ''
  if (id === undefined || !isIPv4(address)) return undefined
  const tags = itemsOf(item.tags)?.flatMap((tag) => textOf(tag) ?? []) ?? []
  const { status } = item
  const server = status === 'attached' ? textOf(item.server_id) : undefined
  const holder =
    server === undefined ? (status === 'updating' ? 'a server, in a moment' : undefined) : `server ${server}`
  return {
    reservation: {
      id,
      address,
      state: 'reserved',
      location: textOf(item.zone),
      marks: marksOf(tags),
      ...(holder !== undefined && { holder }),
      createdAt: reservedAtOf(tags),
    },
    tags,
    server,
    isChanging: status === 'updating' || status === 'detaching',
    isBroken: status === 'error',
  }
}
