import type { FastifyInstance, FastifyRequest } from 'fastify'
import { objectOf } from '../request-body.ts'
import { denied, invalidArgument, refused } from './errors.ts'
import {
  attach,
  changeFlexibleIp,
  createFlexibleIp,
  deleteFlexibleIp,
  detach,
  generateMac,
  serverIn,
} from './flexible-ips.ts'
import { renderFlexibleIp } from './render.ts'
import { type RouteContext, page, projectIn, zoneOf } from './route-context.ts'
import type { FlexibleIp } from './state.ts'

const root = '/flexible-ip/v1alpha1/zones/:zone/fips'

/** Registers the routes of flexible IPs. */
export function flexibleIpRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state } = context
  const render = (ip: FlexibleIp) => renderFlexibleIp(state, ip)

  app.get(root, (request) =>
    page(context, request, { field: 'flexible_ips', items: state.flexibleIps.values(), render }),
  )
  app.post(root, (request) => {
    const body = objectOf(request.body)
    const zone = zoneOf(request)
    return render(createFlexibleIp(state, { project: projectIn(context, request, body['project_id']), zone }, body))
  })
  app.get(`${root}/:id`, (request) => render(find(context, request)))
  app.patch(`${root}/:id`, (request) => {
    const ip = find(context, request)
    changeFlexibleIp(state, ip, objectOf(request.body))
    return render(ip)
  })
  app.delete(`${root}/:id`, (request, reply) => {
    deleteFlexibleIp(state, find(context, request))
    return reply.code(204).send()
  })
  app.post(`${root}/:id/mac`, (request) => {
    const ip = find(context, request)
    generateMac(state, ip, objectOf(request.body)['mac_type'])
    return render(ip)
  })
  app.post(`${root}/attach`, (request) => {
    const { fips_ids: ids, server_id: server } = objectOf(request.body)
    const ips = findAll(context, request, ids)
    const project = ips[0]?.project ?? ''
    attach(state, ips, serverIn(state, { project, zone: zoneOf(request) }, server))
    return { total_count: ips.length, flexible_ips: ips.map(render) }
  })
  app.post(`${root}/detach`, (request) => {
    const ips = findAll(context, request, objectOf(request.body)['fips_ids'])
    detach(state, ips)
    return { total_count: ips.length, flexible_ips: ips.map(render) }
  })
}

/** Finds the address in the path. A deleted address and a foreign project's look alike: both give 403. */
function find(context: RouteContext, request: FastifyRequest): FlexibleIp {
  const { id } = request.params as { id: string }
  const found = lookUp(context, request, id)
  if (!found) throw denied(request.method === 'GET' ? 'read' : 'write')
  return found
}

function findAll(context: RouteContext, request: FastifyRequest, given: unknown): FlexibleIp[] {
  if (!Array.isArray(given) || given.length === 0) throw invalidArgument('fips_ids', 'is missing', 'required')
  return given.map((id) => {
    const found = lookUp(context, request, String(id))
    if (found) return found
    if (context.state.behaviour.unknownAddress === '403') throw denied('write')
    throw refused(404, { resource: 'flexible_ips', resource_id: String(id) })
  })
}

function lookUp({ state, projectsOf }: RouteContext, request: FastifyRequest, id: string): FlexibleIp | undefined {
  const found = state.flexibleIps.get(id)
  const isHere = found && found.zone === zoneOf(request) && projectsOf(request).includes(found.project)
  return isHere ? found : undefined
}
