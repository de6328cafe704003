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

/** One page of a list and the `meta` that goes with it. Pages start at 1; sizes out of bounds are brought within them. */
export function pageOf<T>(
  items: T[],
  { request, perPage, fault }: { request: FastifyRequest; perPage: number; fault: Fault | undefined },
): { items: T[]; meta: Meta } {
  const query = request.query as Record<string, unknown>
  const size = applyPageSizeFault(within(query['per_page'], perPage, maxPerPage), fault)
  const current = within(query['page'], 1, 100_000)
  const all = applyListFault(items, fault)
  const last = Math.max(1, Math.ceil(all.length / size))
  // The links carry the page alone: whoever follows them must say again how long pages are.
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

function within(value: unknown, usual: number, most: number): number {
  const number = typeof value === 'string' && value !== '' ? Number(value) : usual
  return Number.isInteger(number) ? Math.min(Math.max(number, 1), most) : usual
}
