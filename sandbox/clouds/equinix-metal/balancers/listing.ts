import type { FastifyRequest } from 'fastify'
import { type Meta, pageOf } from '../paging.ts'
import type { BalancerState } from './state.ts'

/** Few, so that a test needs few objects for a second page. */
const perPage = 2

/** The response to a list: all items or, where the service has pages, one page with its `meta`. */
export function listing<T>(
  state: BalancerState,
  request: FastifyRequest,
  { field, items }: { field: string; items: T[] },
): Record<string, T[] | Meta> {
  if (state.account.behaviour.balancerLists === 'whole') return { [field]: items }
  const page = pageOf(items, { request, perPage, fault: undefined })
  return { [field]: page.items, meta: page.meta }
}
