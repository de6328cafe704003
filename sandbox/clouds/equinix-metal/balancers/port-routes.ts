import type { FastifyInstance } from 'fastify'
import { objectOf } from '../../request-body.ts'
import { notFound } from '../errors.ts'
import type { BalancerContext } from './finders.ts'
import { renderCreated, renderPort } from './render.ts'
import { readIds, readName, readPortNumber } from './rules.ts'
import { type Port, microseconds, newNamed, portsOf } from './state.ts'

/** Serves the ports of load balancers. */
export function portRoutes(app: FastifyInstance, { state, find }: BalancerContext): void {
  app.get('/v1/loadbalancers/:id/ports', (request) => ({
    ports: portsOf(state, find.balancer(request)).map(renderPort),
  }))

  app.post('/v1/loadbalancers/:id/ports', (request) => {
    const balancer = find.balancer(request)
    const { name, number, pool_ids: pools } = objectOf(request.body)
    const wanted = { number: readPortNumber(state, balancer, number), pools: readIds(pools, state.pools, 'pools') }
    const port: Port = { ...newNamed(state, 'loadprt', readName(state, name)), balancer, ...wanted }
    state.ports.set(port.id, port)
    return renderCreated(port)
  })

  app.get('/v1/loadbalancers/:id/ports/:number', (request) => {
    const { number } = request.params as { number: string }
    const port = portsOf(state, find.balancer(request)).find((one) => String(one.number) === number)
    if (!port) throw notFound()
    return renderPort(port)
  })

  app.patch('/v1/loadbalancers/ports/:id', (request) => {
    const port = find.port(request)
    const { name, number, add_pool_ids: added, remove_pool_ids: removed } = objectOf(request.body)
    const gone = readIds(removed, state.pools, 'pools')
    const pools = [...port.pools, ...readIds(added, state.pools, 'pools')].filter((pool) => !gone.includes(pool))
    if (name !== undefined) port.name = readName(state, name)
    if (number !== undefined && number !== port.number) port.number = readPortNumber(state, port.balancer, number)
    return renderPort(Object.assign(port, { pools: [...new Set(pools)], updatedAt: microseconds(state.account.now()) }))
  })

  app.delete('/v1/loadbalancers/ports/:id', (request) => {
    const port = find.port(request)
    state.ports.delete(port.id)
    return renderCreated(port)
  })
}
