import { isIPv4 } from 'node:net'
import type { VendorHttp } from '../http/client.ts'
import type { VendorCall } from '../http/request.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import { sharedList } from '../http/shared-list.ts'
import type { SharedRead } from '../../lib/shared-read.ts'
import { unreadableError, vendor } from './errors.ts'

/** An account with one location of it, its HTTP client and its lists, which all callers share. */
export type Account = {
  http: VendorHttp
  /** Where addresses are reserved, and whose routers the servers speak BGP with. */
  location: string
  /** Every IP block, as the API shows it. */
  blocks: SharedRead<Fields[]>
  servers: SharedRead<Fields[]>
  /** The BGP peer groups of the location: one, or none. */
  peerGroups: SharedRead<Fields[]>
}

/** The paths of the APIs that we need. */
export const pathOf = {
  blocks: ['ips', 'v1', 'ip-blocks'],
  servers: ['bmc', 'v1', 'servers'],
  peerGroups: ['networks', 'v1', 'bgp-peer-groups'],
  tags: ['tag-manager', 'v1', 'tags'],
  locations: ['location-api', 'v1', 'locations'],
}

/** The account of a client; nothing has been read yet. */
export function accountAt(http: VendorHttp, location: string): Account {
  const listed = (name: string, path: string[], query: VendorCall['query'] = {}) =>
    sharedList({
      what: `the ${name} of ${vendor}`,
      read: (signal) => readList(http, { name, method: 'GET', path, query }, signal),
    })
  return {
    http,
    location,
    blocks: listed('reservations', pathOf.blocks),
    servers: listed('machines', pathOf.servers),
    peerGroups: listed('peering', pathOf.peerGroups, { location }),
  }
}

/** A list, which the API returns as a whole. An item without an id may hide the wanted one. */
export async function readList(http: VendorHttp, call: VendorCall, signal: AbortSignal): Promise<Fields[]> {
  const { body } = await http.call(call, signal)
  const items = itemsOf(body)?.map(fieldsOf)
  if (!items?.every((item) => textOf(item.id) !== undefined))
    throw unreadableError(call.name, 'no list, or an item without an id')
  return items
}

/** The first IPv4 addresses in a list of texts. */
export function ipv4In(given: unknown): string[] {
  return itemsOf(given)?.flatMap((text) => (typeof text === 'string' && isIPv4(text) ? text : [])) ?? []
}
