import type { FastifyInstance } from 'fastify'
import { objectOf } from '../../request-body.ts'
import { formatIpv4 } from '../../ipv4.ts'
import { refused, unprocessable } from '../errors.ts'
import type { Project } from '../state.ts'
import type { BalancerContext } from './finders.ts'
import { listing } from './listing.ts'
import { renderBalancer, renderCreated } from './render.ts'
import { readIds, readName } from './rules.ts'
import { type BalancerState, type LoadBalancer, microseconds, newNamed, places, removeBalancer } from './state.ts'

/** Serves the load balancers themselves. */
export function balancerRoutes(app: FastifyInstance, { state, find }: BalancerContext): void {
  app.get('/v1/projects/:id/loadbalancers', (request) => {
    const project = find.project(request)
    const mine = [...state.balancers.values()].filter((one) => one.project === project)
    return listing(state, request, { field: 'loadbalancers', items: mine.map((one) => renderBalancer(state, one)) })
  })

  app.post('/v1/projects/:id/loadbalancers', (request) =>
    renderCreated(addBalancer(state, find.project(request), objectOf(request.body))),
  )

  app.get('/v1/loadbalancers/:id', (request) => renderBalancer(state, find.balancer(request)))

  app.patch('/v1/loadbalancers/:id', (request) => {
    const balancer = find.balancer(request)
    const { name, add_port_ids: added, remove_port_ids: removed, clear_ports: clear } = objectOf(request.body)
    if (name !== undefined) balancer.name = readName(state, name)
    for (const port of readIds(added, state.ports, 'ports')) port.balancer = balancer
    const gone = clear === true ? [...state.ports.values()] : readIds(removed, state.ports, 'ports')
    for (const port of gone) if (port.balancer === balancer) state.ports.delete(port.id)
    balancer.updatedAt = microseconds(state.account.now())
    return renderCreated(balancer)
  })

  app.delete('/v1/loadbalancers/:id', (request) => {
    const balancer = find.balancer(request)
    removeBalancer(state, balancer)
    return renderCreated(balancer)
  })
}

function addBalancer(state: BalancerState, project: Project, body: Record<string, unknown>): LoadBalancer {
  const name = readName(state, body['name'])
  const location = places.find(({ id }) => id === body['location_id'])
  if (!location) throw unprocessable('location not found')
  const count = [...state.balancers.values()].filter((one) => one.project === project).length
  if (count >= state.settings.limit) throw unprocessable('load balancer limit reached')
  const allocation = state.account.addresses.publicIn(location.metro).allocateLast(32)
  if (!allocation) throw refused(500, 'internal server error')
  const builtAtMs = state.account.now() + state.settings.buildMs
  const { free, range } = allocation
  const ip = formatIpv4(range.first)
  const balancer = { ...newNamed(state, 'loadbal', name), project, location, builtAtMs, ip, free }
  state.balancers.set(balancer.id, balancer)
  return balancer
}
