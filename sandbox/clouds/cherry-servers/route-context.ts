import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Fault } from '../faults.ts'
import { applyListFault, applyPageSizeFault } from '../list-faults.ts'
import type { Finders } from './access.ts'
import { badRequest } from './errors.ts'
import type { State } from './state.ts'

/** What every route of the API works with. */
export type RouteContext = {
  state: State
  find: Finders
  /** The fault that a list in the answer to this call must show. */
  faultOf: (request: FastifyRequest) => Fault | undefined
}

/** Things in the order in which lists show them, from the order in which they were made. */
export function inListOrder<T>({ behaviour }: State, made: T[]): T[] {
  return behaviour.listOrder === 'newest-first' ? made.toReversed() : made
}

/** What `limit` and `offset` leave of a list, all of it without them; how long the whole is goes into a header. */
export function pageOf<T>(
  items: T[],
  of: { request: FastifyRequest; reply: FastifyReply; fault: Fault | undefined },
): T[] {
  const { limit, offset } = of.request.query as Record<string, unknown>
  const all = applyListFault(items, of.fault)
  const from = digits('offset', offset)
  const size = applyPageSizeFault(digits('limit', limit) || all.length, of.fault)
  of.reply.header('x-total-count', String(all.length))
  return all.slice(from, from + size)
}

function digits(name: string, value: unknown): number {
  if (value === undefined) return 0
  if (typeof value === 'string' && /^\d+$/.test(value)) return Number(value)
  throw badRequest(`${name} must be a number.`)
}
