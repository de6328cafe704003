import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type RouteContext, inListOrder, pageOf, wantedTypes } from './route-context.ts'
import { notFound } from './errors.ts'
import { selectFields } from './fields.ts'
import { readIpChange, readRegion } from './ip-body.ts'
import { changeIp, deleteIp, orderIp } from './ips.ts'
import { renderIp } from './render.ts'
import { type Ip, type State, ipsOf } from './state.ts'

/** Serves IP addresses: floating ones, which a project orders and deletes, and the servers' own addresses. */
export function ipRoutes(app: FastifyInstance, cherry: RouteContext): void {
  const { state, find, faultOf } = cherry
  const show = (request: FastifyRequest, ip: Ip) => selectFields(request, 'ip', renderIp(state, ip))

  app.get('/projects/:id/ips', (request, reply) => {
    const project = find.project(request)
    const types = wantedTypes(request)
    const mine = [...state.ips.values()].filter((ip) => ip.project === project && isListed(state, ip))
    const wanted = mine.filter((ip) => types.length === 0 || types.includes(ip.type))
    const page = pageOf(state, inListOrder(state, wanted), { request, reply, fault: faultOf(request) })
    if (types.length > 0 && state.behaviour.filteredTotal === 'all') reply.header('x-total-count', String(mine.length))
    return page.map((ip) => show(request, ip))
  })

  app.get('/servers/:id/ips', (request, reply) => {
    const held = ipsOf(state, find.server(request))
    return pageOf(state, held, { request, reply, fault: faultOf(request) }).map((ip) => show(request, ip))
  })

  app.post('/projects/:id/ips', (request, reply) => {
    const project = find.project(request)
    const region = readRegion(request.body)
    const ip = orderIp(state, { project, region }, readIpChange(state, request.body, { project, region }))
    return reply.code(201).send(show(request, ip))
  })

  app.get('/ips/:id', (request) => show(request, find.ip(request)))

  app.put('/ips/:id', (request) => {
    const ip = findChangeable(cherry, request)
    changeIp(ip, readIpChange(state, request.body, { project: ip.project, region: ip.region, ip }))
    return show(request, ip)
  })

  app.delete('/ips/:id', (request, reply) => {
    deleteIp(state, findChangeable(cherry, request))
    return reply.code(204).send()
  })
}

/** Finds an address that a client may change: a deleted one can still be read for a while, but not changed. */
function findChangeable({ find }: RouteContext, request: FastifyRequest): Ip {
  const ip = find.ip(request)
  if (ip.isDeleting) throw notFound()
  return ip
}

function isListed(state: State, { createdAtMs, type }: Ip): boolean {
  return type !== 'floating-ip' || state.now() - createdAtMs >= state.listedAfterMs
}
