import { isIPv4 } from 'node:net'
import type { Reservation } from '../ports/cloud.ts'
import { type Fields, fieldsOf, textOf } from '../http/loose-json.ts'
import { marksOf, readTags, type TagRequest } from './tags.ts'

/** The parts of an IPv4 block that we need. */
export type Block = {
  reservation: Reservation
  /** As the API returned them: a PUT replaces them all. */
  tags: TagRequest[]
}

/** The IPv4 block in a response; undefined if the response has something else. */
export function parseBlock(body: unknown): Block | undefined {
  const item = fieldsOf(body)
  const id = textOf(item.id)
  const found = addressOf(textOf(item.cidr) ?? '')
  // The smallest block has no address before it is created. A block of the other family is not ours.
  const isAwaited = item.status === 'creating' && item.ipVersion !== 'V6'
  if (id === undefined || (!found && !isAwaited)) return undefined
  const tags = readTags(item.tags)
  const holder = holderOf(item)
  return {
    reservation: {
      id,
      address: isAwaited ? undefined : found?.address,
      ...(found?.prefixLength !== undefined && { prefixLength: found.prefixLength }),
      state: isAwaited ? 'requested' : 'reserved',
      location: textOf(item.location),
      marks: marksOf(tags),
      ...(holder !== undefined && { holder }),
      createdAt: textOf(item.createdOn),
    },
    tags,
  }
}

/**
 * The address of a block. In a /31 it is the higher one: the vendor's own tools use it, and the lower one is not known
 * to work. A larger block is a network, which no Service gets as a whole.
 */
function addressOf(cidr: string): (Pick<Reservation, 'prefixLength'> & { address: string }) | undefined {
  const [, first = '', length = ''] = /^([\d.]+)\/(\d{1,2})$/.exec(cidr) ?? []
  const prefixLength = Number(length)
  if (!isIPv4(first) || prefixLength > 32) return undefined
  if (prefixLength === 32) return { address: first }
  if (prefixLength < 31) return { address: first, prefixLength }
  return { address: first.replace(/\d+$/, (last) => String(Number(last) | 1)) }
}

/** The holder of a block. A block that is subnetted or changing also counts as in use. */
function holderOf({ status, assignedResourceId, assignedResourceType }: Fields): string | undefined {
  const id = textOf(assignedResourceId)
  const kind = textOf(assignedResourceType)?.toLowerCase().replaceAll(/[_-]/g, ' ')
  if (id !== undefined) return `${kind ?? 'resource'} ${id}`
  if (status === 'subnetted') return 'the blocks that were cut from it'
  const isFree = status === 'unassigned' || status === 'creating' || status === undefined
  return isFree ? undefined : `something (its status is "${textOf(status) ?? 'unknown'}")`
}
