import { isIPv4 } from 'node:net'
import { firstHostOf } from '../../lib/ip-address.ts'
import type { Reservation } from '../ports/cloud.ts'
import { fieldsOf, textOf, textsOf } from '../http/loose-json.ts'
import { marksOf, reservedAtOf } from './tags.ts'

/** The parts of a flexible IP that we need. */
export type FlexibleIp = {
  reservation: Reservation & { address: string }
  /** As the API returned them: a PATCH replaces them all. */
  tags: string[]
  /** The id of the server that the API shows: during a change, the one that still has it, or none. */
  server: string | undefined
  /** Whether it is being attached or detached, or gets a virtual MAC: the provider refuses any other change meanwhile. */
  isChanging: boolean
  /** Whether an attachment failed. */
  isBroken: boolean
}

/** The address in a response; undefined if it has none. A Service gets the first address of an IPv6 network, for good. */
export function parseFlexibleIp(body: unknown): FlexibleIp | undefined {
  const item = fieldsOf(body)
  const id = textOf(item.id)
  const text = textOf(item.ip_address)?.replace(/\/32$/, '') ?? ''
  const address = isIPv4(text) ? text : firstHostOf(text)
  if (id === undefined || address === undefined) return undefined
  const tags = textsOf(item.tags)
  const { status } = item
  // An address that the vendor has locked is still on its server. What an error means for the named server is unknown.
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
