import { CloudError } from '../cloud.ts'
import type { VendorHttp } from '../http.ts'
import type { VendorCall } from '../http/request.ts'
import { countOf, type Fields, fieldsOf, itemsOf, textOf } from '../loose-json.ts'

/** A list of the API: how it is asked for, and the field of the answer that holds it. */
export type List = Required<Pick<VendorCall, 'name' | 'path' | 'query' | 'hints'>> & { field: string }

type Page = { items: Fields[]; current: number; last: number; total: number | undefined }

/** More than any project has of anything, at a hundred a page: what goes on beyond it is a fault. */
const mostPages = 1000
const readings = 3

/**
 * Every item of a list, once each. Whoever misses a reservation buys a second one, and whoever misses a machine may
 * take it for gone, so a list that may have a hole is an error and never an answer.
 */
export async function wholeList(http: VendorHttp, list: List, signal: AbortSignal): Promise<Fields[]> {
  for (let reading = 1; reading <= readings; reading++) {
    const items = await readOnce(http, list, signal)
    if (items) return items
  }
  throw incomplete(list, `read ${readings} times, its pages never fitted together`)
}

/**
 * One reading, page by page; undefined when it may have a hole: a deletion moves unread items onto pages already read,
 * and a page without news means that they do not follow each other.
 */
async function readOnce(http: VendorHttp, list: List, signal: AbortSignal): Promise<Fields[] | undefined> {
  const items = new Map<unknown, Fields>()
  let promised = 0
  for (let asked = 1; asked <= mostPages; asked++) {
    const page = await readPage(http, { ...list, asked }, signal)
    const before = items.size
    for (const item of page.items) items.set(textOf(item.id) ?? item, item)

    if (asked === 1 && page.current < page.last) promised = page.total ?? 0
    if (page.current >= page.last) return items.size < promised ? undefined : [...items.values()]
    if (items.size === before) return undefined
  }
  throw incomplete(list, `it does not end after ${mostPages} pages`)
}

async function readPage(http: VendorHttp, list: List & { asked: number }, signal: AbortSignal): Promise<Page> {
  const { name, path, hints, field, asked } = list
  // Some lists have no pages by the book, so only one that has shown a second page is asked for it.
  const query = { ...list.query, ...(asked > 1 && { page: asked }) }
  const { body } = await http.call({ name, method: 'GET', path, query, hints }, signal)
  const page = parsePage(body, { field, asked })
  if (!page) throw incomplete(list, `page ${asked} holds no ${field}`)
  return page
}

/** The page in an answer; undefined where it holds no list, which is not the same as an empty one. */
export function parsePage(body: unknown, { field, asked }: { field: string; asked: number }): Page | undefined {
  const answer = fieldsOf(body)
  const items = itemsOf(answer[field])?.map(fieldsOf)
  const { current_page, last_page, total } = fieldsOf(answer.meta)
  const current = countOf(current_page) ?? asked
  return items && { items, current, last: countOf(last_page) ?? current, total: countOf(total) }
}

function incomplete({ name }: List, why: string): CloudError {
  const message = `Equinix Metal did not give the whole list of ${name}: ${why}`
  return new CloudError(message, { fault: 'unavailable', outcome: 'nothing' })
}
