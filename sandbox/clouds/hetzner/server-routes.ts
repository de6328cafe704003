import type { FastifyInstance } from 'fastify'
import { objectOf } from '../request-body.ts'
import { startAction } from './actions.ts'
import { ApiError, invalidInput } from './errors.ts'
import { readLabels } from './labels.ts'
import { findLocation, serverTypes } from './locations.ts'
import { renderAction, renderServer } from './render.ts'
import { type RouteContext, findIn, page } from './route-context.ts'
import { addServer, removeServer } from './servers.ts'
import type { Server } from './state.ts'

/** Registers the routes of servers. */
export function serverRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state, projectOf } = context
  const render = (server: Server) => renderServer(state, server)

  app.get('/servers', (request) => page(context, request, { field: 'servers', items: state.servers.values(), render }))
  app.get('/servers/:id', (request) => ({ server: render(findIn(context, request, state.servers)) }))
  app.post('/servers', (request, reply) => {
    const project = projectOf(request)
    const { name, server_type: typeName, location: place, labels } = objectOf(request.body)
    if (typeof name !== 'string' || !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(name))
      throw invalidInput('name', 'is no host name')
    if ([...state.servers.values()].some((one) => one.project === project && one.name === name))
      throw new ApiError(409, 'uniqueness_error', { message: 'server name is already used' })
    const type = serverTypes.find((one) => one.name === typeName || String(one.id) === String(typeName))
    if (!type) throw invalidInput('server_type', 'not found')
    const server = addServer(state, { project, name, type, location: findLocation(place), labels: readLabels(labels) })
    const action = startAction(state, { ...about(server), command: 'create_server', carryOut() {} })
    const answer = { server: render(server), action: renderAction(action), next_actions: [], root_password: null }
    return reply.code(201).send(answer)
  })
  app.delete('/servers/:id', (request) => {
    const server = findIn(context, request, state.servers)
    const action = startAction(state, { ...about(server), command: 'delete_server', carryOut() {} })
    removeServer(state, server)
    return { action: renderAction(action) }
  })
  powerRoutes(app, context)
}

const powerActions = {
  poweron: ['start_server', 'running'],
  poweroff: ['stop_server', 'off'],
  // Their success means that the signal was sent.
  shutdown: ['shutdown_server', undefined],
  reboot: ['reboot_server', undefined],
  reset: ['reset_server', 'running'],
} as const

function powerRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state } = context
  for (const [name, [command, status]] of Object.entries(powerActions))
    app.post(`/servers/:id/actions/${name}`, (request, reply) => {
      const server = findIn(context, request, state.servers)
      const carryOut = () => void (status && (server.status = status))
      const action = startAction(state, { ...about(server), command, carryOut })
      return reply.code(201).send({ action: renderAction(action) })
    })
}

function about({ id, project }: Server) {
  return { project, resources: [{ id, type: 'server' }] }
}
