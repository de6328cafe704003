import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ApiError } from '../api-error.ts'
import { removeServer } from './flexible-ips.ts'
import { offer, renderServer } from './render.ts'
import { type RouteContext, page, zoneOf } from './route-context.ts'
import type { Server } from './state.ts'

const root = '/baremetal/v1/zones/:zone/servers'

const powerActions = { start: 'ready', stop: 'stopped', reboot: 'ready' } as const

/** Registers the routes of Elastic Metal servers. The control API adds servers: they cannot be ordered here. */
export function serverRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state } = context
  const render = (server: Server) => renderServer(state, server)

  app.get('/baremetal/v1/zones/:zone/offers', () => ({ total_count: 1, offers: [offer] }))
  app.get(root, (request) => page(context, request, { field: 'servers', items: state.servers.values(), render }))
  app.get(`${root}/:id`, (request) => render(find(context, request)))
  app.delete(`${root}/:id`, (request) => {
    const server = find(context, request)
    const shown = { ...render(server), status: 'deleting' }
    removeServer(state, server)
    return shown
  })
  for (const [name, status] of Object.entries(powerActions))
    app.post(`${root}/:id/${name}`, (request) => {
      const server = find(context, request)
      server.status = status
      return render(server)
    })
}

/** A deleted server answers 404 without a type. */
function find({ state, projectsOf }: RouteContext, request: FastifyRequest): Server {
  const server = state.servers.get((request.params as { id: string }).id)
  const isHere = server && server.zone === zoneOf(request) && projectsOf(request).includes(server.project)
  if (!isHere) throw new ApiError(404, { message: 'Not Found' })
  return server
}
