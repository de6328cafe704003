import type { FastifyInstance } from 'fastify'
import { objectOf } from '../../request-body.ts'
import type { BalancerContext } from './finders.ts'
import { listing } from './listing.ts'
import { renderCreated, renderPool } from './render.ts'
import { readIds, readName, readProtocol } from './rules.ts'
import { type BalancerState, type Pool, microseconds, newNamed, originsOf, removePool } from './state.ts'

/** Serves the pools of origins. */
export function poolRoutes(app: FastifyInstance, { state, find }: BalancerContext): void {
  app.get('/v1/projects/:id/loadbalancers/pools', (request) => {
    const project = find.project(request)
    const mine = [...state.pools.values()].filter((pool) => pool.project === project)
    return listing(state, request, { field: 'pools', items: mine.map((pool) => renderPool(state, pool)) })
  })

  app.post('/v1/projects/:id/loadbalancers/pools', (request) => {
    const project = find.project(request)
    const { name, protocol, ...links } = objectOf(request.body)
    const wanted = { protocol: readProtocol(protocol), project }
    const pool: Pool = { ...newNamed(state, 'loadpol', readName(state, name)), ...wanted }
    attach(state, pool, { ports: links['port_ids'], origins: links['origin_ids'] })
    state.pools.set(pool.id, pool)
    return renderCreated(pool)
  })

  app.get('/v1/loadbalancers/pools/:id', (request) => renderPool(state, find.pool(request)))

  app.patch('/v1/loadbalancers/pools/:id', (request) => {
    const pool = find.pool(request)
    const { name, protocol, ...links } = objectOf(request.body)
    if (name !== undefined) pool.name = readName(state, name)
    if (protocol !== undefined) pool.protocol = readProtocol(protocol)
    detach(state, pool, links)
    attach(state, pool, { ports: links['add_port_ids'], origins: links['add_origin_ids'] })
    pool.updatedAt = microseconds(state.account.now())
    return renderPool(state, pool)
  })

  app.delete('/v1/loadbalancers/pools/:id', (request) => {
    const pool = find.pool(request)
    removePool(state, pool)
    return renderCreated(pool)
  })
}

function attach(state: BalancerState, pool: Pool, { ports, origins }: { ports: unknown; origins: unknown }): void {
  const [added, moved] = [readIds(ports, state.ports, 'ports'), readIds(origins, state.origins, 'origins')]
  for (const port of added) if (!port.pools.includes(pool)) port.pools.push(pool)
  for (const origin of moved) origin.pool = pool
}

function detach(state: BalancerState, pool: Pool, links: Record<string, unknown>): void {
  const ports =
    links['clear_ports'] === true ? [...state.ports.values()] : readIds(links['remove_port_ids'], state.ports, 'ports')
  const origins =
    links['clear_origins'] === true
      ? originsOf(state, pool)
      : readIds(links['remove_origin_ids'], state.origins, 'origins')
  for (const port of ports) port.pools = port.pools.filter((one) => one !== pool)
  for (const origin of origins) if (origin.pool === pool) state.origins.delete(origin.id)
}
