import type { FastifyRequest } from 'fastify'
import type { ActiveFault } from '../faults.ts'
import { applyListFault, applyPageSizeFault } from '../list-faults.ts'
import { denied, invalidArgument, refused } from './errors.ts'
import { type State, zones } from './state.ts'

/** The facts that routes share: the account, the projects of a call's key, and the fault of a call. */
export type RouteContext = {
  state: State
  projectsOf: (request: FastifyRequest) => readonly string[]
  faultOf: (request: FastifyRequest) => ActiveFault | undefined
}

const usualPage = 20
const maxPage = 100

/** Returns the zone of the path. */
export function zoneOf(request: FastifyRequest): string {
  const { zone } = request.params as { zone: string }
  if (!zones.includes(zone)) throw refused(404)
  return zone
}

/** Returns the project that a request names; throws if its key has no right in it. */
export function projectIn(context: RouteContext, request: FastifyRequest, given: unknown): string {
  if (typeof given !== 'string' || given === '') throw invalidArgument('project_id', 'is missing', 'required')
  if (!context.projectsOf(request).includes(given)) throw denied(request.method === 'GET' ? 'read' : 'write')
  return given
}

type Listed = {
  id: string
  project: string
  zone: string
  tags: string[]
  status: string
  createdAtMs: number
  server?: { id: string } | undefined
}

/** Returns a page of a list, with the total count of all pages. An item matches if it has any of the given tags. */
export function page<T extends Listed>(
  context: RouteContext,
  request: FastifyRequest,
  { field, items, render }: { field: string; items: Iterable<T>; render: (item: T) => unknown },
): Record<string, unknown> {
  const query = request.query as Record<string, string | string[] | undefined>
  const zone = zoneOf(request)
  const { project_id: asked } = query
  const projects = asked === undefined ? context.projectsOf(request) : [projectIn(context, request, asked)]
  const found = [...items].filter(
    (item) =>
      item.zone === zone &&
      projects.includes(item.project) &&
      hasAny(item.tags, query['tags']) &&
      hasAny([item.status], query['status']) &&
      hasAny([item.server?.id ?? ''], query['server_ids']),
  )
  const fault = context.faultOf(request)
  const sorted = applyListFault(ordered(found, query['order_by']), fault)
  const size = applyPageSizeFault(Math.min(wholeNumber(query, 'page_size', usualPage), maxPage), fault)
  const first = (wholeNumber(query, 'page', 1) - 1) * size
  return { total_count: sorted.length, [field]: sorted.slice(first, first + size).map(render) }
}

function hasAny(own: string[], wanted: string | string[] | undefined): boolean {
  const some = [wanted ?? []].flat()
  return some.length === 0 || some.some((one) => own.includes(one))
}

/** Sorts by creation time. A recycled address keeps its old time, so a new one may appear anywhere. */
function ordered<T extends Listed>(items: T[], order: unknown = 'created_at_asc'): T[] {
  if (order !== 'created_at_asc' && order !== 'created_at_desc') throw invalidArgument('order_by', 'no such order')
  const sorted = items.toSorted((one, other) => one.createdAtMs - other.createdAtMs)
  return order === 'created_at_asc' ? sorted : sorted.toReversed()
}

function wholeNumber(query: Record<string, unknown>, name: string, otherwise: number): number {
  if (query[name] === undefined) return otherwise
  const value = Number(query[name])
  if (!Number.isInteger(value) || value < 1) throw invalidArgument(name, 'must be a positive number', 'format')
  return value
}
