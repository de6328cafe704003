import { CloudError } from '../cloud.ts'
import type { VendorHttp } from '../http.ts'
import { type Fields, textOf } from '../loose-json.ts'
import { type Page, parsePage, publicTypes } from './wire.ts'

/** A project, and the door to it. */
export type Project = { http: VendorHttp; id: string }

/** 100,000 addresses: more than any project has, so what goes on beyond it is a fault. */
const mostPages = 1000
const readings = 3

/**
 * Every address object of the project, once each. Whoever misses a reservation buys a second one, so a list that may
 * have a hole is an error and never an answer.
 */
export async function listAddresses(project: Project, signal: AbortSignal): Promise<Fields[]> {
  for (let reading = 1; reading <= readings; reading++) {
    const items = await readOnce(project, signal)
    if (items) return items
  }
  throw incomplete(`read ${readings} times, its pages never fitted together`)
}

/**
 * One reading, page by page; undefined when it may have a hole: a deletion moves unread items onto pages already read,
 * and a page without news means that they do not follow each other.
 */
async function readOnce(project: Project, signal: AbortSignal): Promise<Fields[] | undefined> {
  const items = new Map<unknown, Fields>()
  let promised = 0
  for (let asked = 1; asked <= mostPages; asked++) {
    const page = await readPage(project, asked, signal)
    const before = items.size
    for (const item of page.items) items.set(textOf(item.id) ?? item, item)

    if (asked === 1 && page.current < page.last) promised = page.total ?? 0
    if (page.current >= page.last) return items.size < promised ? undefined : [...items.values()]
    if (items.size === before) return undefined
  }
  throw incomplete(`it does not end after ${mostPages} pages`)
}

async function readPage({ http, id }: Project, asked: number, signal: AbortSignal): Promise<Page> {
  const path = ['projects', id, 'ips']
  const query = { types: publicTypes, per_page: 100, page: asked }
  const hints = { invalid: 'check the project id' }
  const { body } = await http.call({ name: 'reservations', method: 'GET', path, query, hints }, signal)
  const page = parsePage(body, asked)
  if (!page) throw incomplete(`page ${asked} holds no ip_addresses`)
  return page
}

function incomplete(why: string): CloudError {
  const message = `Equinix Metal did not give the whole list of reservations: ${why}`
  return new CloudError(message, { fault: 'unavailable', outcome: 'nothing' })
}
