import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Fault } from '../faults.ts'
import { applyListFault, applyPageSizeFault } from '../list-faults.ts'
import type { Finders } from './access.ts'
import { badRequest } from './errors.ts'
import type { State } from './state.ts'

/** The facts that the routes of the API need. */
export type RouteContext = {
  state: State
  find: Finders
  /** Returns the fault to apply to a list in the answer. */
  faultOf: (request: FastifyRequest) => Fault | undefined
}

/** Sorts objects, which are in order of creation, as lists show them. */
export function inListOrder<T>({ behaviour }: State, created: T[]): T[] {
  return behaviour.listOrder === 'newest-first' ? created.toReversed() : created
}

/** Returns the part of a list that `limit` and `offset` select, or all of it; a header shows a length. */
export function pageOf<T>(
  { behaviour }: State,
  items: T[],
  of: { request: FastifyRequest; reply: FastifyReply; fault: Fault | undefined },
): T[] {
  const { limit, offset } = of.request.query as Record<string, unknown>
  const all = applyListFault(items, of.fault)
  const from = readNumber('offset', offset)
  const size = applyPageSizeFault(readNumber('limit', limit) || all.length, of.fault)
  const page = all.slice(from, from + size)
  const counted = limit !== undefined && behaviour.limitedTotal === 'page' ? page : all
  of.reply.header('x-total-count', String(counted.length))
  return page
}

function readNumber(name: string, value: unknown): number {
  if (value === undefined) return 0
  if (typeof value === 'string' && /^\d+$/.test(value)) return Number(value)
  throw badRequest(`${name} must be a number.`)
}

/** Reads `type[]=a&type[]=b`, which the vendor's clients send, or the same without brackets. */
export function wantedTypes(request: FastifyRequest): unknown[] {
  const { 'type[]': types, type } = request.query as Record<string, unknown>
  return [types ?? type ?? []].flat()
}
