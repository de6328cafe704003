import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Json } from '../control.ts'
import { objectOf } from '../request-body.ts'
import { setServerBgp } from './bgp.ts'
import { type RouteContext, inListOrder, pageOf } from './route-context.ts'
import { badRequest } from './errors.ts'
import { selectFields } from './fields.ts'
import { renderChangedServer, renderServer } from './render.ts'
import { readInstallation, readPlan, readServerChange, readServerOrder } from './server-body.ts'
import { addServer, provision, redeploy, setPower, terminate, upgrade } from './servers.ts'
import { type Server, type State, ipsOf } from './state.ts'

/** Serves servers, virtual ones and bare metal. */
export function serverRoutes(app: FastifyInstance, cherry: RouteContext): void {
  projectServers(app, cherry)
  singleServers(app, cherry)
}

function projectServers(app: FastifyInstance, { state, find, faultOf }: RouteContext): void {
  app.get('/projects/:id/servers', (request, reply) => {
    const project = find.project(request)
    const { search } = request.query as { search?: unknown }
    const mine = [...state.servers.values()].filter(
      (server) => server.project === project && (typeof search !== 'string' || matchesSearch(state, server, search)),
    )
    const page = pageOf(state, inListOrder(state, mine), { request, reply, fault: faultOf(request) })
    return page.map((server) => selectFields(request, 'server', renderListed(state, server)))
  })

  app.post('/projects/:id/servers', (request, reply) => {
    const project = find.project(request)
    const server = addServer(state, readServerOrder(state, project, request.body))
    provision(state, server)
    return reply.code(201).send(selectFields(request, 'server', renderServer(state, server)))
  })
}

function singleServers(app: FastifyInstance, { state, find }: RouteContext): void {
  app.get('/servers/:id', (request) => {
    const server = find.server(request)
    const { fields } = request.query as { fields?: unknown }
    const power = typeof fields === 'string' && fields.split(',').includes('power') && { power: server.power }
    return selectFields(request, 'server', { ...renderServer(state, server), ...power })
  })

  app.put('/servers/:id', (request, reply) => {
    const server = find.server(request)
    const { names, tags, bgp } = readServerChange(request.body)
    if (bgp !== undefined) setServerBgp(state, server, bgp)
    Object.assign(server, names, tags && { tags })
    return reply.code(201).send(selectFields(request, 'server', renderChangedServer(state, server)))
  })

  app.delete('/servers/:id', (request, reply) => {
    terminate(state, find.server(request))
    return reply.code(204).send()
  })

  app.post('/servers/:id/actions', (request, reply) => {
    const server = find.server(request)
    runAction(state, server, request)
    return reply.code(201).send(selectFields(request, 'server', renderServer(state, server)))
  })
}

/** The actions. The vendor's clients write some with a hyphen, some with an underscore. */
const actions: Record<string, (state: State, server: Server, body: unknown) => void> = {
  'power-on': (state, server) => setPower(state, server, 'on'),
  'power-off': (state, server) => setPower(state, server, 'off'),
  reboot: (state, server) => setPower(state, server, 'on'),
  reinstall: (state, server, body) => redeploy(state, server, readInstallation(body)),
  rebuild: (state, server, body) => redeploy(state, server, readInstallation(body)),
  // Only virtual servers can be upgraded; the name of this action is not public.
  upgrade: (_, server, body) => upgrade(server, readPlan(body)),
  'enter-rescue-mode': (_, server) => void (server.status = 'rescue mode'),
  'exit-rescue-mode': (_, server) => void (server.status = 'deployed'),
  'reset-bmc-password': () => {},
}

function runAction(state: State, server: Server, { body }: FastifyRequest): void {
  const type = objectOf(body)['type']
  const name = typeof type === 'string' ? type.replaceAll('_', '-') : ''
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (!action) throw badRequest('Given action type was not found.')
  action(state, server, body)
}

function renderListed(state: State, server: Server): Json {
  const { bgp, ...rest } = renderServer(state, server)
  return state.behaviour.listShowsBgp === 'yes' ? { ...rest, bgp } : rest
}

/** Whether a search finds a server, by its hostname or a public address. */
function matchesSearch(state: State, server: Server, phrase: string): boolean {
  const publicIps = ipsOf(state, server).filter(({ type }) => type !== 'private-ip')
  return server.hostname.includes(phrase) || publicIps.some(({ host }) => host.address.includes(phrase))
}
