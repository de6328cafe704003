import type { FastifyRequest } from 'fastify'
import type { ActiveFault } from '../faults.ts'
import { applyListFault, applyPageSizeFault } from '../list-faults.ts'
import { invalidInput, refused } from './errors.ts'
import { type Labels, parseSelector } from './labels.ts'
import type { State } from './state.ts'

/** The facts that routes share: the account, the project of a call's token, and the fault of a call. */
export type RouteContext = {
  state: State
  projectOf: (request: FastifyRequest) => number
  faultOf: (request: FastifyRequest) => ActiveFault | undefined
}

const maxPage = 50

/** Returns the object with the id of the path, in the project of the token. */
export function findIn<T extends { project: number }>(
  context: RouteContext,
  request: FastifyRequest,
  all: ReadonlyMap<number, T>,
): T {
  const found = all.get(Number((request.params as { id: string }).id))
  if (!found || found.project !== context.projectOf(request)) throw refused(404)
  return found
}

type Listed = { id: number; name?: string; labels?: Labels; project?: number; status?: string }

/** Returns a page of a list: filtered by name, labels and status, sorted, and with the total count. */
export function page<T extends Listed>(
  context: RouteContext,
  request: FastifyRequest,
  { field, items, render }: { field: string; items: Iterable<T>; render: (item: T) => unknown },
): Record<string, unknown> {
  const query = request.query as Record<string, string | string[] | undefined>
  const project = context.projectOf(request)
  const matches = parseSelector(String(query['label_selector'] ?? ''))
  const statuses = [query['status'] ?? []].flat()
  const found = [...items].filter(
    (item) =>
      (item.project ?? project) === project &&
      (query['name'] === undefined || item.name === query['name']) &&
      matches(item.labels ?? {}) &&
      (statuses.length === 0 || statuses.includes(item.status ?? '')),
  )
  const fault = context.faultOf(request)
  const sorted = applyListFault(sortedBy(found, [query['sort'] ?? 'id'].flat()), fault)
  const perPage = applyPageSizeFault(wholeNumber(query, 'per_page', { max: maxPage, otherwise: 25 }), fault)
  const at = wholeNumber(query, 'page', { max: Infinity, otherwise: 1 })
  const last = Math.max(1, Math.ceil(sorted.length / perPage))
  const pagination = {
    page: at,
    per_page: perPage,
    previous_page: at > 1 ? at - 1 : null,
    next_page: at < last ? at + 1 : null,
    last_page: last,
    total_entries: sorted.length,
  }
  return { [field]: sorted.slice((at - 1) * perPage, at * perPage).map(render), meta: { pagination } }
}

const sortKeys = ['id', 'name', 'status'] as const
type SortKey = (typeof sortKeys)[number]

/** Ids grow with the time, so `created`, `started` and `finished` sort alike. */
const alike: Record<string, SortKey> = { created: 'id', started: 'id', finished: 'id' }

/** Sorts by several keys, the most significant first: `status`, `id:desc`. */
function sortedBy<T extends Listed>(items: T[], orders: string[]): T[] {
  const keys = orders.map((order) => {
    const [name = '', direction = 'asc'] = order.split(':')
    const key = sortKeys.find((one) => one === (alike[name] ?? name))
    if (!key || !['asc', 'desc'].includes(direction)) throw invalidInput('sort', `cannot sort by "${order}"`)
    return { key, sign: direction === 'asc' ? 1 : -1 }
  })
  const place = (one: T, other: T) => {
    for (const { key, sign } of keys) {
      const [left, right] = [one[key] ?? '', other[key] ?? '']
      if (left !== right) return left < right ? -sign : sign
    }
    return one.id - other.id
  }
  return items.toSorted(place)
}

function wholeNumber(
  query: Record<string, unknown>,
  name: string,
  { max, otherwise }: { max: number; otherwise: number },
): number {
  if (query[name] === undefined) return otherwise
  const value = Number(query[name])
  if (!Number.isInteger(value) || value < 1) throw invalidInput(name, 'must be a positive number')
  return Math.min(value, max)
}
