import { isIPv4 } from 'node:net'
import { firstHostOf } from '../../lib/ip-address.ts'
import type { Reservation } from '../ports/cloud.ts'
import { fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import { marksOf, reservedAtOf } from './tags.ts'

/** The parts of a flexible IP that we need. */
export type FlexibleIp = {
  reservation: Reservation & { address: string }
  /** As the cloud returned them: a PATCH replaces them all. */
  tags: string[]
  /** The id of the server that the cloud shows: while that changes, the one that has it still, or none. */
  server: string | undefined
  /** Whether it is being attached or detached, or gets a virtual MAC: the cloud refuses every other change. */
  isChanging: boolean
  /** Whether an attachment failed. */
  isBroken: boolean
}

/** The address in a response; undefined if there is none. A Service has the first address of an IPv6 network, for ever. */
export function parseFlexibleIp(body: unknown): FlexibleIp | undefined {
  const item = fieldsOf(body)
  const id = textOf(item.id)
  const text = textOf(item.ip_address)?.replace(/\/32$/, '') ?? ''
  const address = isIPv4(text) ? text : firstHostOf(text)
  if (id === undefined || address === undefined) return undefined
  const tags = itemsOf(item.tags)?.flatMap((tag) => textOf(tag) ?? []) ?? []
  const { status } = item
  // An address that the vendor locks is still on its server. The meaning of an error for the named server is unknown.
  const isFree = status === 'ready' || status === 'detaching' || status === 'error'
  const server = isFree ? undefined : textOf(item.server_id)
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
