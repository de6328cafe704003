import type { FastifyRequest } from 'fastify'
import { notFound } from '../errors.ts'
import type { Project } from '../state.ts'
import type { BalancerAccess } from './access.ts'
import type { BalancerState, LoadBalancer, Origin, Pool, Port } from './state.ts'

/** Finds the object of a request; throws 404 if it does not exist or is another project's. */
export type BalancerFinders = {
  project(request: FastifyRequest): Project
  balancer(request: FastifyRequest): LoadBalancer
  port(request: FastifyRequest): Port
  pool(request: FastifyRequest): Pool
  origin(request: FastifyRequest): Origin
}

/** The facts that the routes of the load balancers need. */
export type BalancerContext = { state: BalancerState; find: BalancerFinders }

/** Makes the finders for the load balancers of an account. */
export function makeBalancerFinders(state: BalancerState, access: BalancerAccess): BalancerFinders {
  const finder =
    <T>(known: Map<string, T>, projectOf: (found: T) => Project) =>
    (request: FastifyRequest): T => {
      const found = known.get((request.params as { id: string }).id)
      if (!found) throw notFound()
      access.allow(request, projectOf(found))
      return found
    }
  return {
    project: finder(state.account.projects, (project) => project),
    balancer: finder(state.balancers, ({ project }) => project),
    port: finder(state.ports, ({ balancer }) => balancer.project),
    pool: finder(state.pools, ({ project }) => project),
    origin: finder(state.origins, ({ pool }) => pool.project),
  }
}
