import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RouteContext, inListOrder, pageOf } from './route-context.ts'
import { notFound } from './errors.ts'
import { selectFields } from './fields.ts'
import { readIpChange, readRegion } from './ip-body.ts'
import { changeIp, deleteIp, orderIp } from './ips.ts'
import { renderIp } from './render.ts'
import { type Ip, type State, ipsOf } from './state.ts'

/** IP addresses: floating ones, which a project orders and deletes, and those that servers come with. */
export function ipRoutes(app: FastifyInstance, cherry: RouteContext): void {
  const { state, find, faultOf } = cherry
  const show = (request: FastifyRequest, ip: Ip) => selectFields(request, 'ip', renderIp(state, ip))

  app.get('/projects/:id/ips', (request, reply) => {
    const project = find.project(request)
    const types = wantedTypes(request)
    const mine = [...state.ips.values()].filter(
      (ip) => ip.project === project && isListed(state, ip) && (types.length === 0 || types.includes(ip.type)),
    )
    const page = pageOf(inListOrder(state, mine), { request, reply, fault: faultOf(request) })
    return page.map((ip) => show(request, ip))
  })

  app.get('/servers/:id/ips', (request, reply) => {
    const held = ipsOf(state, find.server(request))
    return pageOf(held, { request, reply, fault: faultOf(request) }).map((ip) => show(request, ip))
  })

  app.post('/projects/:id/ips', (request, reply) => {
    const project = find.project(request)
    const region = readRegion(request.body)
    const ip = orderIp(state, { project, region }, readIpChange(state, request.body, { project, region }))
    return reply.code(201).send(show(request, ip))
  })

  app.get('/ips/:id', (request) => show(request, find.ip(request)))

  app.put('/ips/:id', (request) => {
    const ip = findLiving(cherry, request)
    changeIp(ip, readIpChange(state, request.body, { project: ip.project, region: ip.region, ip }))
    return show(request, ip)
  })

  app.delete('/ips/:id', (request, reply) => {
    deleteIp(state, findLiving(cherry, request))
    return reply.code(204).send()
  })
}

/** What was deleted is read for a while yet, but nothing more can be done to it. */
function findLiving({ find }: RouteContext, request: FastifyRequest): Ip {
  const ip = find.ip(request)
  if (ip.leaving) throw notFound()
  return ip
}

function isListed(state: State, { createdAtMs, type }: Ip): boolean {
  return type !== 'floating-ip' || state.now() - createdAtMs >= state.listedAfterMs
}

/** `type[]=a&type[]=b`, as the vendor's own clients write it, or without the brackets. */
function wantedTypes(request: FastifyRequest): unknown[] {
  const { 'type[]': types, type } = request.query as Record<string, unknown>
  return [types ?? type ?? []].flat()
}
