import type { FastifyInstance } from 'fastify'
import { objectOf } from '../../request-body.ts'
import type { BalancerContext } from './finders.ts'
import { listing } from './listing.ts'
import { renderCreated, renderOrigin } from './render.ts'
import { readName, readNumber, readTarget } from './rules.ts'
import { type Origin, microseconds, newNamed, originsOf } from './state.ts'

/** Serves the origins of pools. */
export function originRoutes(app: FastifyInstance, { state, find }: BalancerContext): void {
  app.get('/v1/loadbalancers/pools/:id/origins', (request) =>
    listing(state, request, { field: 'origins', items: originsOf(state, find.pool(request)).map(renderOrigin) }),
  )

  app.post('/v1/loadbalancers/pools/:id/origins', (request) => {
    const pool = find.pool(request)
    const { name, target, port_number: number, active } = objectOf(request.body)
    const wanted = { target: readTarget(target), portNumber: readNumber(number), active: active !== false }
    const origin: Origin = { ...newNamed(state, 'loadogn', readName(state, name)), pool, ...wanted }
    state.origins.set(origin.id, origin)
    return renderCreated(origin)
  })

  app.get('/v1/loadbalancers/pools/origins/:id', (request) => renderOrigin(find.origin(request)))

  app.patch('/v1/loadbalancers/pools/origins/:id', (request) => {
    const origin = find.origin(request)
    const { name, target, port_number: number, active } = objectOf(request.body)
    if (name !== undefined) origin.name = readName(state, name)
    if (target !== undefined) origin.target = readTarget(target)
    if (number !== undefined) origin.portNumber = readNumber(number)
    if (typeof active === 'boolean') origin.active = active
    return renderOrigin(Object.assign(origin, { updatedAt: microseconds(state.account.now()) }))
  })

  app.delete('/v1/loadbalancers/pools/origins/:id', (request) => {
    const origin = find.origin(request)
    state.origins.delete(origin.id)
    return renderCreated(origin)
  })
}
