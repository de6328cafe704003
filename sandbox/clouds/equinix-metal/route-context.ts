import type { FastifyRequest } from 'fastify'
import type { Fault } from '../faults.ts'
import type { Finders } from './access.ts'
import { type View, viewOf } from './includes.ts'
import type { State } from './state.ts'

/** The facts that the routes of the API need. */
export type RouteContext = {
  state: State
  find: Finders
  /** Returns the fault to apply to a list in the answer. */
  faultOf: (request: FastifyRequest) => Fault | undefined
}

/** Reads `include` and `exclude` of a request. */
export const viewFor = (request: FastifyRequest): View => viewOf(request.query as Record<string, unknown>)

/** Sorts objects, which are in order of creation, as lists show them. */
export function inListOrder<T>({ behaviour }: State, created: T[]): T[] {
  return behaviour.listOrder === 'newest-first' ? created.toReversed() : created
}
