import { CloudError } from '../ports/cloud.ts'
import type { Fields } from './loose-json.ts'
import { type SharedRead, sharedRead } from '../../lib/shared-read.ts'

export type Page = {
  items: Fields[]
  /** The length of the response. */
  bytes: number
  /** How many items all pages have according to this page; 0 if it does not say. */
  promised: number
  isLast: boolean
}

export type Pages<T> = {
  vendor: string
  /** The contents of the list, for messages. */
  name: string
  /** Reads the page that follows this many pages and items. */
  read(before: { pages: number; items: number }, signal: AbortSignal): Promise<Page>
  /** Extracts what is used of an item, so that the rest does not stay in memory; undefined leaves the item out. */
  keep(item: Fields): T | undefined
}

/** More than any project needs, even with short pages: a longer list is an error of the provider. */
const maxPages = 1000
/** Enough for thousands of a vendor's largest objects. In memory, a list takes several times as much. */
const maxBytes = 32 * 1024 * 1024
const maxPasses = 3

/**
 * Every item of a list, without duplicates. If we missed a reservation, we would buy a second one; if we missed a
 * machine, we might think it was deleted. So a list that may have a gap is an error.
 */
export async function wholeList<T>(pages: Pages<T>, signal: AbortSignal): Promise<T[]> {
  for (let pass = 1; pass <= maxPasses; pass++) {
    const items = await readOnce(pages, signal)
    if (items) return items
  }
  throw incompleteError(pages, `read ${maxPasses} times, its pages never matched`)
}

/**
 * Reads all pages once; undefined if there may be a gap. A deletion shifts unread items into positions that were
 * already read. A page without new items shows that the pages do not follow each other.
 */
async function readOnce<T>(pages: Pages<T>, signal: AbortSignal): Promise<T[] | undefined> {
  const items = new Map<unknown, T | undefined>()
  let [promised, read, bytes] = [0, 0, 0]
  for (let asked = 0; asked < maxPages; asked++) {
    const page = await pages.read({ pages: asked, items: read }, signal)
    const before = items.size
    // Items without an id are never the same.
    for (const item of page.items) items.set(item.id || Symbol('item'), pages.keep(item))
    bytes += page.bytes
    if (bytes > maxBytes) throw incompleteError(pages, `it has more than ${maxBytes >> 20} MiB`)
    read += page.items.length
    promised = Math.max(promised, page.promised)

    if (page.isLast) return items.size < promised ? undefined : [...items.values()].filter((one) => one !== undefined)
    if (items.size === before) return undefined
  }
  throw incompleteError(pages, `it does not end after ${maxPages} pages`)
}

/** The error for an incomplete list, with the reason. */
export function incompleteError({ vendor, name }: Pick<Pages<unknown>, 'vendor' | 'name'>, reason: string): CloudError {
  const message = `${vendor} did not return the whole list of ${name}: ${reason}`
  return new CloudError(message, { fault: 'unavailable', outcome: 'nothing' })
}

/** Within this time, the calls for all objects of a round begin. */
const recentMs = 2_000

/** A provider's list that all callers read together; `what` names it for people. */
export function sharedList<T>(of: { what: string; read: (signal: AbortSignal) => Promise<T[]> }): SharedRead<T[]> {
  const abandonedError = (cause: unknown) =>
    new CloudError(`reading ${of.what} was canceled`, { fault: 'unavailable', outcome: 'nothing', cause })
  return sharedRead({ read: of.read, recentMs, abandonedError })
}
