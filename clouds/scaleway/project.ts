import type { VendorHttp } from '../http/client.ts'
import type { Lane } from '../http/lanes.ts'
import { type Fields, countOf, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import { sharedList, type Pages, incompleteError, wholeList } from '../http/whole-list.ts'
import type { SharedRead } from '../../lib/shared-read.ts'
import { vendor, refusal, requireProject, requireSameId } from './errors.ts'
import { type FlexibleIp, parseFlexibleIp } from './parse-flexible-ip.ts'
import type { VendorCall } from '../http/request.ts'

/** A project in one zone, its HTTP client and its lists, which all callers share. */
export type Project = {
  http: VendorHttp
  id: string
  zone: string
  /** The servers, as the API returns them. */
  servers: SharedRead<Fields[]>
  /** The flexible IPs. */
  addresses: SharedRead<FlexibleIp[]>
  /** The same for callers that move an address, which must not wait for others. */
  addressesForMoves: SharedRead<FlexibleIp[]>
  /** How often a change in progress is checked. */
  pollMs: number
}

/** The paths of the two products that we need. */
export const pathOf = {
  addresses: ({ zone }: Pick<Project, 'zone'>) => ['flexible-ip', 'v1alpha1', 'zones', zone, 'fips'],
  servers: ({ zone }: Pick<Project, 'zone'>) => ['baremetal', 'v1', 'zones', zone, 'servers'],
}

/** The most that the vendor's own clients ask for. */
const pageSize = 100

type List = { name: string; path: string[]; field: string; lane: Lane; project: string }

/** The project of these settings, of which nothing has been read yet. */
export function projectAt(http: VendorHttp, of: Pick<Project, 'id' | 'zone' | 'pollMs'>): Project {
  const listed = <T>(list: Omit<List, 'project'>, parse: (item: Fields) => T | undefined) => {
    const read = (signal: AbortSignal) => readList(http, { ...list, project: of.id, keep: parse }, signal)
    return sharedList({ what: `the ${list.name} of ${vendor}`, read })
  }
  const fips = { name: 'reservations', path: pathOf.addresses(of), field: 'flexible_ips' }
  return {
    ...of,
    http,
    servers: listed({ name: 'machines', path: pathOf.servers(of), field: 'servers', lane: 'read' }, usedOfServer),
    addresses: listed({ ...fips, lane: 'read' }, parseFlexibleIp),
    addressesForMoves: listed({ ...fips, lane: 'move' }, parseFlexibleIp),
  }
}

function usedOfServer({ id, name, status, zone, offer_name, ips }: Fields): Fields {
  return { id, name, status, zone, offer_name, ips }
}

async function readList<T>(http: VendorHttp, list: List & Pick<Pages<T>, 'keep'>, signal: AbortSignal): Promise<T[]> {
  const { name, path, field, lane, project, keep } = list
  const pages = { vendor, name }
  const read = async (before: { pages: number; items: number }, aborted: AbortSignal) => {
    const page = before.pages + 1
    const query = { project_id: project, order_by: 'created_at_asc', page, page_size: pageSize }
    const { body, bytes } = await http.call({ name, method: 'GET', lane, path, query }, aborted)
    const fields = fieldsOf(body)
    const items = itemsOf(fields[field])?.map(fieldsOf)
    const total = countOf(fields['total_count'])
    if (!items || total === undefined) throw incompleteError(pages, `page ${page} has no ${field} or no total`)
    return { items, bytes, promised: total, isLast: before.items + items.length >= total || items.length === 0 }
  }
  return wholeList({ ...pages, read, keep }, signal)
}

/**
 * An address, read live; undefined proves that it is deleted. The API answers 403 for both deleted and hidden
 * addresses. So the complete list decides, even though it may lag behind a deletion.
 */
export async function findFlexibleIp(
  project: Project,
  { id, lane = 'read' }: { id: string; lane?: Lane },
  signal: AbortSignal,
): Promise<FlexibleIp | undefined> {
  const path = [...pathOf.addresses(project), id]
  const call: VendorCall = { name: 'reservation', method: 'GET', lane, path, accept: [403, 404] }
  const { status, body } = await project.http.call(call, signal)
  if (status === 403 || status === 404) return findListed(project, { id, lane }, signal)
  const found = parseFlexibleIp(body)
  if (!found) throw refusal(`${id} is no flexible IP with an address`, 'invalid')
  requireSameId(found.reservation, id)
  requireProject(textOf(fieldsOf(body)['project_id']), project.id, id)
  return found
}

/** The same, looked up in the list. */
export async function findListed(
  { addresses, addressesForMoves }: Project,
  { id, lane = 'read' }: { id: string; lane?: Lane },
  signal: AbortSignal,
): Promise<FlexibleIp | undefined> {
  const list = lane === 'move' ? addressesForMoves : addresses
  return (await list.fresh(signal)).find(({ reservation }) => reservation.id === id)
}
