import type { FastifyInstance, FastifyReply } from 'fastify'
import { applyListFault } from '../list-faults.ts'
import { notFound } from './errors.ts'
import { facilities, findMetro, metros } from './locations.ts'
import type { RouteContext } from './route-context.ts'

/** Serves metros, which every token may read, and the deprecated facilities. */
export function locationRoutes(app: FastifyInstance, { find, faultOf }: RouteContext): void {
  app.get('/locations/metros', (request) => ({ metros: applyListFault(metros, faultOf(request)) }))

  app.get('/locations/metros/:id', (request) => {
    const metro = findMetro((request.params as { id: string }).id)
    if (!metro) throw notFound()
    return metro
  })

  app.get('/facilities', (request, reply) => {
    markDeprecated(reply)
    return { facilities: applyListFault(facilities, faultOf(request)) }
  })

  app.get('/projects/:id/facilities', (request, reply) => {
    find.project(request)
    markDeprecated(reply)
    return { facilities: applyListFault(facilities, faultOf(request)) }
  })
}

/** Adds the headers that declare facilities as deprecated (RFC 8594). */
export function markDeprecated(reply: FastifyReply): void {
  reply.headers({ deprecation: 'Tue, 30 May 2023 00:00:00 GMT', sunset: 'Sun, 31 Dec 2023 00:00:00 GMT' })
}
