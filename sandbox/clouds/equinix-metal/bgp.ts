import type { FastifyInstance, FastifyRequest } from 'fastify'
import { applyListFault } from '../list-faults.ts'
import { readBgpConfig } from './bgp-config.ts'
import { neighborsOf } from './bgp-neighbors.ts'
import { unprocessable } from './errors.ts'
import { href } from './hrefs.ts'
import { type RouteContext, inListOrder, viewFor } from './route-context.ts'
import type { Json } from '../control.ts'
import { renderProject } from './render.ts'
import { renderDevice } from './render-device.ts'
import { objectOf } from '../request-body.ts'
import { type Project, type Session, type State, newId, sessionsOf } from './state.ts'
import type { View } from './includes.ts'

/** Serves BGP: one configuration for a project, and a session for each device and address family. */
export function bgpRoutes(app: FastifyInstance, metal: RouteContext): void {
  configRoutes(app, metal)
  listRoutes(app, metal)
  sessionRoutes(app, metal)
}

function configRoutes(app: FastifyInstance, { state, find }: RouteContext): void {
  // A project without BGP gets 200 too.
  app.get('/projects/:id/bgp-config', (request) => {
    const project = find.project(request)
    return renderConfig(state, project, viewFor(request))
  })

  app.post('/projects/:id/bgp-configs', (request, reply) => {
    const project = find.project(request)
    if (!project.bgpConfig) project.bgpConfig = readBgpConfig(state, request.body)
    else if (state.behaviour.repeatedBgpConfig === '422') throw unprocessable('BGP is already configured')
    return reply.code(204).send()
  })

  app.get('/projects/:id/global-bgp-ranges', (request) => {
    find.project(request)
    return { global_bgp_ranges: [] }
  })
}

function listRoutes(app: FastifyInstance, { state, find, faultOf }: RouteContext): void {
  const list = (request: FastifyRequest, sessions: Session[]) =>
    applyListFault(inListOrder(state, sessions), faultOf(request)).map((one) =>
      renderSession(state, one, viewFor(request)),
    )

  app.get('/projects/:id/bgp/sessions', (request) => {
    const project = find.project(request)
    const mine = [...state.sessions.values()].filter(({ device }) => device.project === project)
    return { bgp_sessions: list(request, mine) }
  })

  app.get('/devices/:id/bgp/sessions', (request) => ({
    bgp_sessions: list(request, sessionsOf(state, find.device(request))),
  }))

  app.get('/devices/:id/bgp/neighbors', (request) => ({
    bgp_neighbors: applyListFault(neighborsOf(state, find.device(request)), faultOf(request)),
  }))
}

function sessionRoutes(app: FastifyInstance, { state, find }: RouteContext): void {
  app.post('/devices/:id/bgp/sessions', (request, reply) => {
    const device = find.device(request)
    const { address_family: family, default_route: defaultRoute } = objectOf(request.body)
    if (family !== 'ipv4' && family !== 'ipv6') throw unprocessable('Address family must be ipv4 or ipv6')
    if (device.project.bgpConfig?.status !== 'enabled') throw unprocessable('BGP is not enabled')
    if (sessionsOf(state, device).some((known) => known.family === family))
      throw unprocessable(`Address family already has session with ${family}`)
    const times = { createdAt: state.timestamp(), updatedAt: state.timestamp() }
    const route = { defaultRoute: defaultRoute === true, learnedRoutes: [] }
    const session: Session = { id: newId(), device, family, status: 'unknown', ...route, ...times }
    state.sessions.set(session.id, session)
    return reply.code(201).send(renderSession(state, session, viewFor(request)))
  })

  app.get('/bgp/sessions/:id', (request) => renderSession(state, find.session(request), viewFor(request)))

  // The specification has a bare boolean here; a widely used client sends an object.
  app.put('/bgp/sessions/:id', (request) => {
    const session = find.session(request)
    const wanted = typeof request.body === 'boolean' ? request.body : objectOf(request.body)['default_route']
    if (typeof wanted !== 'boolean') throw unprocessable('Default route must be true or false')
    Object.assign(session, { defaultRoute: wanted, updatedAt: state.timestamp() })
    return renderSession(state, session, viewFor(request))
  })

  app.delete('/bgp/sessions/:id', (request, reply) => {
    state.sessions.delete(find.session(request).id)
    return reply.code(204).send()
  })
}

function emptyConfig({ behaviour }: State): Json {
  if (behaviour.emptyBgpConfig === 'empty') return {}
  return { id: null, status: null, deployment_type: null, asn: null, md5: null, sessions: [], ranges: [] }
}

function renderConfig(state: State, project: Project, view: View): Json {
  const { bgpConfig: config } = project
  if (!config) return emptyConfig(state)
  const sessions = [...state.sessions.values()].filter(({ device }) => device.project === project)
  return {
    id: config.id,
    status: config.status,
    deployment_type: config.deploymentType,
    asn: config.asn,
    md5: config.md5,
    route_object: null,
    max_prefix: 10,
    created_at: config.createdAt,
    requested_at: config.createdAt,
    project: renderProject(project, view),
    sessions: sessions.map((one) =>
      view.isFull('sessions', true) ? renderSession(state, one, view.into('sessions')) : href('bgp/sessions', one.id),
    ),
    ranges: [],
    ...href('bgp-configs', config.id),
  }
}

function renderSession(state: State, session: Session, view: View): Json {
  const { id, device } = session
  return {
    id,
    address_family: session.family,
    status: session.status,
    default_route: session.defaultRoute,
    learned_routes: session.learnedRoutes,
    created_at: session.createdAt,
    updated_at: session.updatedAt,
    device: view.isFull('device') ? renderDevice(state, device, view.into('device')) : href('devices', device.id),
    ...href('bgp/sessions', id),
  }
}
