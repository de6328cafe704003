import type { VendorHttp } from '../http/client.ts'
import type { Lane } from '../http/lanes.ts'
import { type Fields, countOf, fieldsOf, itemsOf } from '../http/loose-json.ts'
import type { VendorCall } from '../http/request.ts'
import { sharedList } from '../http/shared-list.ts'
import { type Pages, incompleteError, wholeList } from '../http/whole-list.ts'
import type { Machine } from '../ports/machines.ts'
import type { SharedRead } from '../../lib/shared-read.ts'
import { type Actions, makeActions } from './actions.ts'
import { vendor } from './errors.ts'
import { type FloatingIp, parseFloatingIp } from './parse-floating-ip.ts'
import { parseServer } from './parse-server.ts'

/** The project of a token, its HTTP client and its lists. Calls are counted for the project, so callers share every list. */
export type Project = {
  http: VendorHttp
  servers: SharedRead<Machine[]>
  addresses: SharedRead<FloatingIp[]>
  /** The same for callers that move an address, who wait for no one else. */
  addressesForMoves: SharedRead<FloatingIp[]>
  actions: Actions
}

/** The most that the vendor gives. */
const pageSize = 50

/** The project of the token that a client sends; nothing has been read yet. */
export function projectAt(http: VendorHttp): Project {
  const listed = <T>(list: List, parse: (item: Fields) => T | undefined) => {
    const read = (signal: AbortSignal) => readList(http, { ...list, keep: parse }, signal)
    return sharedList({ what: `the ${list.name} of ${vendor}`, read })
  }
  const floatingIps = { name: 'reservations', field: 'floating_ips' }
  return {
    http,
    servers: listed({ name: 'machines', field: 'servers' }, parseServer),
    addresses: listed(floatingIps, parseFloatingIp),
    addressesForMoves: listed({ ...floatingIps, lane: 'move' }, parseFloatingIp),
    actions: makeActions(async (ids, signal) => {
      const query = { id: ids }
      // The next move to the same server begins when this one has ended.
      const call: VendorCall = { name: 'actions', method: 'GET', path: ['actions'], query, lane: 'move' }
      const { body } = await http.call(call, signal)
      return itemsOf(fieldsOf(body).actions)?.map(fieldsOf) ?? []
    }),
  }
}

type List = { name: string; field: string; query?: Record<string, string>; lane?: Lane }

/** Every item of a list of the API. Sorted by id, an item that is created meanwhile moves no other to another page. */
export async function readList<T>(
  http: VendorHttp,
  { name, field, query = {}, lane = 'read', keep }: List & Pick<Pages<T>, 'keep'>,
  signal: AbortSignal,
): Promise<T[]> {
  const pages = { vendor, name }
  const read = async ({ pages: before }: { pages: number }, aborted: AbortSignal) => {
    const paging = { sort: 'id:asc', per_page: pageSize, page: before + 1 }
    const { body, bytes } = await http.call(
      { name, method: 'GET', lane, path: [field], query: { ...query, ...paging } },
      aborted,
    )
    const fields = fieldsOf(body)
    const items = itemsOf(fields[field])?.map(fieldsOf)
    if (!items) throw incompleteError(pages, `page ${before + 1} has no ${field}`)
    const { total_entries: total, next_page: next } = fieldsOf(fieldsOf(fields['meta'])['pagination'])
    return { items, bytes, promised: countOf(total) ?? 0, isLast: countOf(next) === undefined }
  }
  return wholeList({ ...pages, read, keep }, signal)
}
