import type { VendorHttp } from '../http/client.ts'
import type { VendorCall } from '../http/request.ts'
import { countOf, type Fields, fieldsOf, itemsOf } from '../http/loose-json.ts'
import { incompleteError, wholeList as wholeListOf } from '../http/whole-list.ts'

/** The facts of a project that depend on its age. */
export type ProjectOptions = {
  /** Whether locations are metros, or facilities if a thing has one. A facility is also a region. */
  places?: 'metros' | 'facilities' | undefined
  /** The ASN of the routers, which overrules the API's answer. */
  peerAsn?: number | undefined
  /** The ASN of the routers if the API does not return one. */
  otherPeerAsn?: number | undefined
}

export type Project = ProjectOptions & { http: VendorHttp; id: string }

/** The advice when the provider refuses a call about the project itself. */
export const projectHints = { invalid: 'check the project id' }

/** A list of the API: the call that reads it, and the field of the response that contains it. */
export type List = Pick<VendorCall, 'name' | 'path' | 'query' | 'hints'> & {
  field: string
  /** The vendor's name in messages. */
  vendor?: string
}

type Page = { items: Fields[]; current: number; last: number; total: number | undefined }

/** Every item of a list whose pages are numbered. */
export function wholeList(http: VendorHttp, list: List, signal: AbortSignal): Promise<Fields[]> {
  const { name, path, hints, field, vendor = 'Equinix Metal' } = list
  const pages = { vendor, name }
  const read = async ({ pages: before }: { pages: number }, aborted: AbortSignal) => {
    const asked = before + 1
    // By the documentation some lists are not paged, so we send a page number only after a list has shown a second
    // page.
    const query = { ...list.query, ...(asked > 1 && { page: asked }) }
    const call = { name, method: 'GET', path, query, ...(hints && { hints }) } as const
    const { body, bytes } = await http.call(call, aborted)
    const page = parsePage(body, { field, asked })
    if (!page) throw incompleteError(pages, `page ${asked} has no ${field}`)
    const isLast = page.current >= page.last
    return { items: page.items, bytes, promised: asked === 1 && !isLast ? (page.total ?? 0) : 0, isLast }
  }
  return wholeListOf({ ...pages, read, keep: (item) => item }, signal)
}

/** The page in a response; undefined if it contains no list, which differs from an empty list. */
export function parsePage(body: unknown, { field, asked }: { field: string; asked: number }): Page | undefined {
  const answer = fieldsOf(body)
  const items = itemsOf(answer[field])?.map(fieldsOf)
  const { current_page, last_page, total } = fieldsOf(answer.meta)
  const current = countOf(current_page) ?? asked
  return items && { items, current, last: countOf(last_page) ?? current, total: countOf(total) }
}
