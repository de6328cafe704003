import type { ResponseHeaders } from '../http/answer.ts'
import type { VendorHttp } from '../http/client.ts'
import type { VendorCall } from '../http/request.ts'
import { type Fields, fieldsOf, itemsOf } from '../http/loose-json.ts'
import { incompleteError, wholeList as wholeListOf } from '../http/whole-list.ts'

/** A list of the API, and the call that reads it. */
export type List = Required<Pick<VendorCall, 'name' | 'path' | 'query' | 'hints'>>

/** So many servers, with everything nested in them, fit well below our limit for a response. */
const pageSize = 100

/** Every item of a list; its pages are selected by offset. */
export function wholeList(http: VendorHttp, list: List, signal: AbortSignal): Promise<Fields[]> {
  const { name, path, hints } = list
  const pages = { vendor: 'Cherry Servers', name }
  const read = async ({ items: offset }: { items: number }, aborted: AbortSignal) => {
    const query = { ...list.query, limit: pageSize, offset }
    const { headers, body } = await http.call({ name, method: 'GET', path, query, hints }, aborted)
    const items = itemsOf(body)?.map(fieldsOf)
    if (!items) throw incompleteError(pages, `the response at offset ${offset} is not a list`)
    const total = totalOf(headers)
    const isLast = total === undefined ? items.length === 0 : offset + items.length >= total
    return { items, promised: total ?? 0, isLast }
  }
  return wholeListOf({ ...pages, read }, signal)
}

/** How many items all pages have. */
function totalOf(headers: ResponseHeaders): number | undefined {
  const total = headers.get('x-total-count') ?? ''
  return /^\d+$/.test(total) ? Number(total) : undefined
}
