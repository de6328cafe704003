import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { contains } from '../address-pool.ts'
import { objectOf } from '../request-body.ts'
import { startAction } from './actions.ts'
import { invalidInput, refusedFor } from './errors.ts'
import { changeFloatingIp, createFloatingIp, deleteFloatingIp, serverOf } from './floating-ips.ts'
import { renderAction, renderFloatingIp } from './render.ts'
import { type RouteContext, findIn, page } from './route-context.ts'
import type { Action, FloatingIp, Server, State } from './state.ts'

/** Registers the routes of floating IPs and their actions. */
export function floatingIpRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state, projectOf } = context
  const find = (request: FastifyRequest) => findIn(context, request, state.floatingIps)

  app.get('/floating_ips', (request) =>
    page(context, request, { field: 'floating_ips', items: state.floatingIps.values(), render: renderFloatingIp }),
  )
  app.post('/floating_ips', (request, reply) => {
    const project = projectOf(request)
    const ip = createFloatingIp(state, project, objectOf(request.body))
    const { server } = ip
    const action = server && startAction(state, { ...about(ip, server), command: 'assign_floating_ip', carryOut() {} })
    return reply.code(201).send({ floating_ip: renderFloatingIp(ip), action: action ? renderAction(action) : null })
  })
  app.get('/floating_ips/:id', (request) => ({ floating_ip: renderFloatingIp(find(request)) }))
  app.put('/floating_ips/:id', (request) => {
    const ip = find(request)
    changeFloatingIp(state, ip, objectOf(request.body))
    return { floating_ip: renderFloatingIp(ip) }
  })
  app.delete('/floating_ips/:id', (request, reply) => {
    deleteFloatingIp(state, find(request))
    return reply.code(204).send()
  })
  actionRoutes(app, context)
}

type Act = (
  name: string,
  start: (ip: FloatingIp, body: Record<string, unknown>) => Parameters<typeof startAction>[1],
) => void

function actionRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state } = context
  const actionsOn = (isIt: (resource: Action['resources'][number]) => boolean) =>
    new Map([...state.actions].filter(([, { resources }]) => resources.some(isIt)))
  const list = (request: FastifyRequest, actions: ReadonlyMap<number, Action>) =>
    page(context, request, { field: 'actions', items: actions.values(), render: renderAction })
  const onAny = () => actionsOn(({ type }) => type === 'floating_ip')
  app.get('/floating_ips/actions', (request) => list(request, onAny()))
  app.get('/floating_ips/actions/:id', (request) => ({ action: renderAction(findIn(context, request, onAny())) }))
  app.get('/floating_ips/:id/actions', (request) => {
    const ip = findIn(context, request, state.floatingIps)
    return list(
      request,
      actionsOn(({ id }) => id === ip.id),
    )
  })
  const act: Act = (name, start) =>
    void app.post(`/floating_ips/:id/actions/${name}`, (request, reply) => {
      const ip = findIn(context, request, state.floatingIps)
      const action = startAction(state, start(ip, objectOf(request.body)))
      return reply.code(201).send({ action: renderAction(action) })
    })
  assignActions(act, state)
  otherActions(act)
}

function assignActions(act: Act, state: State): void {
  act('assign', (ip, body) => {
    const server = serverOf(state, ip.project, body['server'])
    if (ip.server === server && state.behaviour.sameServer === '422')
      throw refusedFor(422, 'floating_ip_assigned', { message: 'Floating IP is already assigned to this server' })
    if (ip.server && ip.server !== server && state.behaviour.otherServer === '422')
      throw refusedFor(422, 'floating_ip_assigned', { message: 'Floating IP is already assigned' })
    if ((ip.type === 'ipv4' ? server.ipv4 : server.ipv6) === undefined)
      throw refusedFor(422, 'service_error', { message: `server has no public ${ip.type} interface` })
    const carryOut = () => {
      if (!state.servers.has(server.id) || !state.floatingIps.has(ip.id)) return false
      ip.server = server
      return true
    }
    return { ...about(ip, server), command: 'assign_floating_ip', carryOut }
  })
  act('unassign', (ip) => {
    if (!ip.server)
      throw refusedFor(422, 'service_error', {
        message: `Floating IP with ID ${ip.id} is not assigned to any resource`,
      })
    return { ...about(ip, ip.server), command: 'unassign_floating_ip', carryOut: () => void (ip.server = undefined) }
  })
}

function otherActions(act: Act): void {
  act('change_protection', (ip, body) => {
    if (typeof body['delete'] !== 'boolean') throw invalidInput('delete', 'must be a boolean')
    const isProtected = body['delete']
    return { ...about(ip), command: 'change_protection', carryOut: () => void (ip.isProtected = isProtected) }
  })
  act('change_dns_ptr', (ip, body) => {
    const { ip: address, dns_ptr: name } = body
    if (typeof address !== 'string') throw invalidInput('ip', 'is missing')
    if (isIP(address) === 0 || !contains(ip.ip, address))
      throw invalidInput('ip', 'is not an address of this Floating IP')
    const carryOut = () => void (typeof name === 'string' ? ip.names.set(address, name) : ip.names.delete(address))
    return { ...about(ip), command: 'change_dns_ptr', carryOut }
  })
}

function about(ip: FloatingIp, server?: Server) {
  const resources = [...(server ? [{ id: server.id, type: 'server' }] : []), { id: ip.id, type: 'floating_ip' }]
  return { project: ip.project, resources }
}
