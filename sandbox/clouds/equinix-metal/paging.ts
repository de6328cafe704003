import type { FastifyRequest } from 'fastify'
import type { Fault } from '../faults.ts'
import { applyListFault, applyPageSizeFault } from '../list-faults.ts'
import { pathOf } from '../intercept-calls.ts'

export type Meta = Record<'first' | 'last' | 'next' | 'previous' | 'self', { href: string } | null> & {
  total: number
  current_page: number
  last_page: number
}

const maxPerPage = 1000

/** Returns one page of a list and its `meta`. Pages start at 1; a size outside the limits becomes the nearest limit. */
export function pageOf<T>(
  items: T[],
  { request, perPage, fault }: { request: FastifyRequest; perPage: number; fault: Fault | undefined },
): { items: T[]; meta: Meta } {
  const query = request.query as Record<string, unknown>
  const size = applyPageSizeFault(clampNumber(query['per_page'], perPage, maxPerPage), fault)
  const current = clampNumber(query['page'], 1, 100_000)
  const all = applyListFault(items, fault)
  const last = Math.max(1, Math.ceil(all.length / size))
  // The links contain only the page: a client that follows them must repeat `per_page`.
  const link = (page: number) => (page >= 1 && page <= last ? { href: `${pathOf(request)}?page=${page}` } : null)
  return {
    items: all.slice((current - 1) * size, current * size),
    meta: {
      first: link(1),
      previous: link(current - 1),
      self: { href: `${pathOf(request)}?page=${current}` },
      next: link(current + 1),
      last: link(last),
      total: all.length,
      current_page: current,
      last_page: last,
    },
  }
}

function clampNumber(value: unknown, byDefault: number, max: number): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : byDefault
  return Number.isInteger(number) ? Math.min(Math.max(number, 1), max) : byDefault
}
