import type { FastifyRequest } from 'fastify'
import type { Fault } from '../faults.ts'
import type { Finders } from './access.ts'
import { type View, viewOf } from './includes.ts'
import type { State } from './state.ts'

/** What every route of the API works with. */
export type RouteContext = {
  state: State
  find: Finders
  /** The fault that a list in the answer to this call must show. */
  faultOf: (request: FastifyRequest) => Fault | undefined
}

/** The `include` and `exclude` of a request. */
export const viewFor = (request: FastifyRequest): View => viewOf(request.query as Record<string, unknown>)

/** Things in the order in which lists show them, from the order in which they were made. */
export function inListOrder<T>({ behaviour }: State, made: T[]): T[] {
  return behaviour.listOrder === 'newest-first' ? made.toReversed() : made
}
