import { CloudError } from '../cloud.ts'
import type { VendorHttp } from '../http.ts'
import type { VendorCall } from '../http/request.ts'
import { type Fields, fieldsOf, itemsOf } from '../loose-json.ts'

/** A list of the API, and how it is asked for. */
export type List = Required<Pick<VendorCall, 'name' | 'path' | 'query' | 'hints'>>

type Page = { items: Fields[]; total: number | undefined }

/** As many whole servers, with all that is nested in them, fit well below the size of an answer that we take. */
const pageSize = 100
/** More than any project has of anything, however short the pages are: what goes on beyond it is a fault. */
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
 * One reading, page by page; undefined when it may have a hole: pages follow each other by their place in the list, and
 * a deletion moves what is unread onto places already read.
 */
async function readOnce(http: VendorHttp, list: List, signal: AbortSignal): Promise<Fields[] | undefined> {
  const items = new Map<unknown, Fields>()
  let most = 0
  let offset = 0
  for (let asked = 1; asked <= mostPages; asked++) {
    const page = await readPage(http, { ...list, offset }, signal)
    const before = items.size
    for (const item of page.items) items.set(item.id ?? item, item)
    offset += page.items.length
    most = Math.max(most, page.total ?? 0)

    const isLast = page.total === undefined ? page.items.length === 0 : offset >= page.total
    if (isLast) return items.size < most ? undefined : [...items.values()]
    if (items.size === before) return undefined
  }
  throw incomplete(list, `it does not end after ${mostPages} pages`)
}

async function readPage(http: VendorHttp, list: List & { offset: number }, signal: AbortSignal): Promise<Page> {
  const { name, path, hints, offset } = list
  const query = { ...list.query, limit: pageSize, offset }
  const { headers, body } = await http.call({ name, method: 'GET', path, query, hints }, signal)
  const items = itemsOf(body)?.map(fieldsOf)
  if (!items) throw incomplete(list, `what came at ${offset} is no list`)
  return { items, total: totalOf(headers) }
}

/** How many items there are on all pages. */
function totalOf(headers: Headers): number | undefined {
  const total = headers.get('x-total-count') ?? ''
  return /^\d+$/.test(total) ? Number(total) : undefined
}

function incomplete({ name }: List, why: string): CloudError {
  const message = `Cherry Servers did not give the whole list of ${name}: ${why}`
  return new CloudError(message, { fault: 'unavailable', outcome: 'nothing' })
}
