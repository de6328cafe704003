import type { FastifyInstance } from 'fastify'
import { objectOf } from '../request-body.ts'
import { startAction } from './actions.ts'
import { images, serverTypes } from './catalogue.ts'
import { invalidInput, refusedFor } from './errors.ts'
import { readLabels } from './labels.ts'
import { findLocation } from './locations.ts'
import { renderAction, renderServer } from './render.ts'
import { type RouteContext, findIn, page } from './route-context.ts'
import { addServer, removeServer } from './servers.ts'
import type { Server, State } from './state.ts'

/** Registers the routes of servers. */
export function serverRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state, projectOf } = context
  const render = (server: Server) => renderServer(state, server)

  app.get('/servers', (request) => page(context, request, { field: 'servers', items: state.servers.values(), render }))
  app.get('/servers/:id', (request) => ({ server: render(findIn(context, request, state.servers)) }))
  app.post('/servers', (request, reply) => {
    const project = projectOf(request)
    const { name: givenName, server_type: typeName, image: imageName, location: place, labels } = objectOf(request.body)
    const name = readName(state, project, givenName)
    const type = findNamed(serverTypes, typeName)
    if (!type) throw invalidInput('server_type', 'not found')
    const image = findNamed(images, imageName)
    if (!image) throw invalidInput('image', 'not found')
    const location = findLocation(place)
    const server = addServer(state, { project, name, type, image, location, labels: readLabels(labels) })
    const action = startAction(state, { ...about(server), command: 'create_server', carryOut() {} })
    const answer = { server: render(server), action: renderAction(action), next_actions: [], root_password: null }
    return reply.code(201).send(answer)
  })
  app.put('/servers/:id', (request) => {
    const server = findIn(context, request, state.servers)
    const { name, labels } = objectOf(request.body)
    if (name !== undefined && name !== server.name) server.name = readName(state, server.project, name)
    if (labels !== undefined) server.labels = readLabels(labels)
    return { server: render(server) }
  })
  app.delete('/servers/:id', (request) => {
    const server = findIn(context, request, state.servers)
    if (server.protection.delete) throw refusedFor(423, 'protected', { message: 'server deletion is protected' })
    const action = startAction(state, { ...about(server), command: 'delete_server', carryOut() {} })
    removeServer(state, server)
    return { action: renderAction(action) }
  })
  protectionRoute(app, context)
  powerRoutes(app, context)
}

/** The vendor protects a server from deletion and from a rebuild only together. */
function protectionRoute(app: FastifyInstance, context: RouteContext): void {
  const { state } = context
  app.post('/servers/:id/actions/change_protection', (request, reply) => {
    const server = findIn(context, request, state.servers)
    const given = objectOf(request.body)
    const wanted = { ...server.protection }
    for (const name of ['delete', 'rebuild'] as const) {
      const value = given[name] ?? wanted[name]
      if (typeof value !== 'boolean') throw invalidInput(name, 'must be a boolean')
      wanted[name] = value
    }
    if (wanted.delete !== wanted.rebuild) throw invalidInput('rebuild', 'must be the same as delete')
    const carryOut = () => void (server.protection = wanted)
    const action = startAction(state, { ...about(server), command: 'change_protection', carryOut })
    return reply.code(201).send({ action: renderAction(action) })
  })
}

const powerActions = {
  poweron: ['start_server', 'running'],
  poweroff: ['stop_server', 'off'],
  // These succeed as soon as the signal is sent.
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

function readName(state: State, project: number, given: unknown): string {
  if (typeof given !== 'string' || !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(given))
    throw invalidInput('name', 'is no host name')
  if ([...state.servers.values()].some((one) => one.project === project && one.name === given))
    throw refusedFor(409, 'uniqueness_error', { message: 'server name is already used' })
  return given
}

/** Finds the item that a body names, by name or id. */
function findNamed<T extends { id: number; name: string }>(all: T[], given: unknown): T | undefined {
  return all.find(({ id, name }) => name === given || String(id) === String(given))
}

function about({ id, project }: Server) {
  return { project, resources: [{ id, type: 'server' }] }
}
