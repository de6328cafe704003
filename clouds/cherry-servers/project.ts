import type { ResponseHeaders } from '../http/answer.ts'
import type { VendorHttp } from '../http/client.ts'
import { type Fields, fieldsOf, idOf, itemsOf } from '../http/loose-json.ts'
import type { VendorCall } from '../http/request.ts'
import { sharedList, type Pages, incompleteError, wholeList } from '../http/whole-list.ts'
import type { SharedRead } from '../../lib/shared-read.ts'
import { vendor, refusal, requireProject, requireSameId } from './errors.ts'
import { type Address, parseAddress, kindOf } from './parse-address.ts'
import { parseServer, type Server } from './parse-server.ts'
import type { Lane } from '../http/lanes.ts'

/** A project, its HTTP client and its lists. Only four calls per second are allowed, so callers share every list. */
export type Project = { http: VendorHttp; id: string; servers: SharedRead<Server[]>; addresses: SharedRead<Address[]> }

/** The advice when the provider refuses a call about the project itself. */
export const projectHints = { invalid: 'check the project id' }

/** For a list that the API does not return at once. */
const pageSize = 100

type List<T> = Pick<VendorCall, 'name' | 'path'> & Pick<Pages<T>, 'keep'>

/** A project of which nothing has been read yet. */
export function projectAt(http: VendorHttp, id: string): Project {
  const listed = <T>({ name, of }: { name: string; of: string }, parse: (item: Fields) => T | undefined) => {
    const list = { name, path: ['projects', id, of], keep: parse }
    const read = (signal: AbortSignal) => readList(http, list, signal)
    return sharedList({ what: `the ${name} of project ${id} of ${vendor}`, read })
  }
  return {
    http,
    id,
    servers: listed({ name: 'machines', of: 'servers' }, parseServer),
    addresses: listed({ name: 'reservations', of: 'ips' }, parseAddress),
  }
}

/**
 * Every item of a list of the API. Like the vendor's own clients, the first call sends no limit: its answer is the
 * whole list. It is not known what the length counts if a limit is sent, or what a filter leaves out. Further pages are
 * selected by offset.
 */
function readList<T>(http: VendorHttp, { name, path, keep }: List<T>, signal: AbortSignal): Promise<T[]> {
  const pages = { vendor, name }
  let whole: number | undefined
  const read = async ({ items: offset }: { items: number }, aborted: AbortSignal) => {
    const query = offset === 0 ? {} : { limit: pageSize, offset }
    const call = { name, method: 'GET', path, query, hints: projectHints } as const
    const { headers, body, bytes } = await http.call(call, aborted)
    const items = itemsOf(body)?.map(fieldsOf)
    if (!items) throw incompleteError(pages, `the response at offset ${offset} is not a list`)
    const length = totalOf(headers)
    // After other pages, a length that does not exceed this page's counts only this page.
    const total = offset > 0 && length !== undefined && length <= items.length ? whole : length
    if (offset === 0) whole = total
    const isFull = offset > 0 && items.length === pageSize
    const mayGoOn = total === undefined ? items.length > 0 : isFull || offset + items.length < total
    return { items, bytes, promised: total ?? 0, isLast: !mayGoOn }
  }
  return wholeList({ ...pages, read, keep }, signal)
}

function totalOf(headers: ResponseHeaders): number | undefined {
  const total = headers.get('x-total-count') ?? ''
  return /^\d+$/.test(total) ? Number(total) : undefined
}

/** A floating IP; undefined if it does not exist. */
export async function findAddress(
  project: Project,
  { id, lane = 'read' }: { id: string; lane?: Lane },
  signal: AbortSignal,
): Promise<Address | undefined> {
  const call: VendorCall = { name: 'reservation', method: 'GET', lane, path: ['ips', id], accept: [403, 404] }
  const { status, body } = await project.http.call(call, signal)
  if (status === 404) return undefined
  // 403 means a deleted address or a key without the right. The list tells which.
  if (status === 403) return findListed(project, id, signal)
  const address = parseAddress(body)
  if (!address) throw refusal(`${id} is ${kindOf(body)}, not a floating IP`, 'invalid')
  requireSameId(address.reservation, id)
  requireProject(idOf(fieldsOf(fieldsOf(body).project).id), project.id, id)
  return address
}

/** The same, looked up in the list. */
export async function findListed(project: Project, id: string, signal: AbortSignal): Promise<Address | undefined> {
  return (await project.addresses.fresh(signal)).find(({ reservation }) => reservation.id === id)
}
