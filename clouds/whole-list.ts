import { CloudError } from './cloud.ts'
import type { Fields } from './loose-json.ts'

/** A page of a list. */
export type Page = {
  items: Fields[]
  /** How many items all pages have, as far as this one says; 0 where it says nothing. */
  promised: number
  isLast: boolean
}

export type Pages = {
  vendor: string
  /** What the list is of, for people. */
  name: string
  /** Reads the page that follows so many pages with so many items. */
  read(before: { pages: number; items: number }, signal: AbortSignal): Promise<Page>
}

/** More than any project has of anything, however short the pages are: what goes on beyond it is a fault. */
const maxPages = 1000
const readings = 3

/**
 * Every item of a list, once each. Whoever misses a reservation buys a second one, and whoever misses a machine may
 * take it for gone, so a list that may have a hole is an error and never an answer.
 */
export async function wholeList(pages: Pages, signal: AbortSignal): Promise<Fields[]> {
  for (let reading = 1; reading <= readings; reading++) {
    const items = await readOnce(pages, signal)
    if (items) return items
  }
  throw incompleteError(pages, `read ${readings} times, its pages never fitted together`)
}

/**
 * One reading, page by page; undefined when it may have a hole: a deletion moves what is unread onto places already
 * read, and a page without news means that they do not follow each other.
 */
async function readOnce(pages: Pages, signal: AbortSignal): Promise<Fields[] | undefined> {
  const items = new Map<unknown, Fields>()
  let promised = 0
  let read = 0
  for (let asked = 0; asked < maxPages; asked++) {
    const page = await pages.read({ pages: asked, items: read }, signal)
    const before = items.size
    for (const item of page.items) items.set(item.id || item, item)
    read += page.items.length
    promised = Math.max(promised, page.promised)

    if (page.isLast) return items.size < promised ? undefined : [...items.values()]
    if (items.size === before) return undefined
  }
  throw incompleteError(pages, `it does not end after ${maxPages} pages`)
}

/** A list that was not given whole, and why. */
export function incompleteError({ vendor, name }: Pick<Pages, 'vendor' | 'name'>, reason: string): CloudError {
  const message = `${vendor} did not give the whole list of ${name}: ${reason}`
  return new CloudError(message, { fault: 'unavailable', outcome: 'nothing' })
}
