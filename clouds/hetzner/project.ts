import type { VendorHttp } from '../http/client.ts'
import { type Fields, countOf, fieldsOf, itemsOf } from '../http/loose-json.ts'
import { sharedList } from '../http/shared-list.ts'
import { incompleteError, wholeList } from '../http/whole-list.ts'
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
  actions: Actions
}

/** The most that the vendor gives. */
const pageSize = 50

/** The project of the token that a client sends; nothing has been read yet. */
export function projectAt(http: VendorHttp): Project {
  const listed = <T>(name: string, field: string, parse: (item: Fields) => T | undefined) => {
    const read = async (signal: AbortSignal) =>
      (await readList(http, { name, field }, signal)).flatMap((item) => parse(item) ?? [])
    return sharedList({ what: `the ${name} of ${vendor}`, read })
  }
  return {
    http,
    servers: listed('machines', 'servers', parseServer),
    addresses: listed('reservations', 'floating_ips', parseFloatingIp),
    actions: makeActions(async (ids, signal) => {
      const query = { id: ids }
      // No move waits for this: what it asks has happened already.
      const { body } = await http.call({ name: 'actions', method: 'GET', path: ['actions'], query }, signal)
      return itemsOf(fieldsOf(body).actions)?.map(fieldsOf) ?? []
    }),
  }
}

/** Every item of a list of the API. Sorted by id, an item that is created meanwhile moves no other to another page. */
export async function readList(
  http: VendorHttp,
  { name, field, query = {} }: { name: string; field: string; query?: Record<string, string> },
  signal: AbortSignal,
): Promise<Fields[]> {
  const pages = { vendor, name }
  const read = async ({ pages: before }: { pages: number }, aborted: AbortSignal) => {
    const paging = { sort: 'id:asc', per_page: pageSize, page: before + 1 }
    const { body } = await http.call({ name, method: 'GET', path: [field], query: { ...query, ...paging } }, aborted)
    const fields = fieldsOf(body)
    const items = itemsOf(fields[field])?.map(fieldsOf)
    if (!items) throw incompleteError(pages, `page ${before + 1} has no ${field}`)
    const { total_entries: total, next_page: next } = fieldsOf(fieldsOf(fields['meta'])['pagination'])
    return { items, promised: countOf(total) ?? 0, isLast: countOf(next) === undefined }
  }
  return wholeList({ ...pages, read }, signal)
}
