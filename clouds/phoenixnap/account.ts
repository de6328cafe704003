import { isIPv4 } from 'node:net'
import type { VendorHttp } from '../http/client.ts'
import type { VendorCall } from '../http/request.ts'
import { type Fields, fieldsOf, itemsOf, textOf, textsOf } from '../http/loose-json.ts'
import { sharedList } from '../http/whole-list.ts'
import type { SharedRead } from '../../lib/shared-read.ts'
import { unreadableError, vendor, refusal, requireSameId } from './errors.ts'
import { type Block, parseBlock } from './parse-block.ts'

/** An account in one of its locations, its HTTP client and its lists, which all callers share. */
export type Account = {
  http: VendorHttp
  /** The location where addresses are reserved, and whose routers speak BGP with the servers. */
  location: string
  /** Every IP block, as the API returns it. */
  blocks: SharedRead<Fields[]>
  servers: SharedRead<Fields[]>
  /** The BGP peer groups of the location: at most one. */
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

/** The account of a client, of which nothing has been read yet. */
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

/** A list, which the API returns as a whole. An item without an id is an error, because it may be the wanted one. */
export async function readList(http: VendorHttp, call: VendorCall, signal: AbortSignal): Promise<Fields[]> {
  const { body } = await http.call(call, signal)
  const items = itemsOf(body)?.map(fieldsOf)
  if (!items?.every((item) => textOf(item.id) !== undefined))
    throw unreadableError(call.name, 'no list, or an item without an id')
  return items
}

/** The BGP peer group of the location. The routers of another one know none of our servers. */
export function groupOf({ location }: Pick<Account, 'location'>, groups: readonly Fields[]): Fields | undefined {
  return groups.find((group) => (textOf(group.location) ?? location) === location)
}

/** The IPv4 addresses in a list of texts. */
export function ipv4In(given: unknown): string[] {
  return textsOf(given).filter(isIPv4)
}

/** A block, read live; undefined proves that it is deleted. */
export async function findBlock(account: Account, id: string, signal: AbortSignal): Promise<Block | undefined> {
  const body = await readOne(account, { name: 'reservation', list: 'blocks', id }, signal)
  if (body === undefined) return undefined
  const found = parseBlock(body)
  if (found) return found
  const { cidr } = fieldsOf(body)
  throw refusal(`${id} is no IPv4 block (${textOf(cidr) ?? 'no network'}), so no Service can have it`, 'invalid')
}

type Kind = { name: string; list: 'blocks' | 'servers'; id: string }

/**
 * An object, read live; undefined proves that it is deleted. The API answers 403 for both deleted and hidden objects.
 * So the complete list, read with the same token, decides, even though it may lag behind a deletion.
 */
export async function readOne(account: Account, { name, list, id }: Kind, signal: AbortSignal): Promise<unknown> {
  const call: VendorCall = { name, method: 'GET', path: [...pathOf[list], id], accept: [403, 404] }
  const { status, body } = await account.http.call(call, signal)
  if (status === 403 || status === 404) return findListed(account, { list, id }, signal)
  requireSameId({ id: fieldsOf(body).id }, id, name)
  return body
}

/** The same, looked up in the list. */
export async function findListed(
  account: Account,
  { list, id }: Pick<Kind, 'list' | 'id'>,
  signal: AbortSignal,
): Promise<Fields | undefined> {
  return (await account[list].fresh(signal)).find((one) => one.id === id)
}
