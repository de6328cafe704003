import type { FastifyInstance } from 'fastify'
import { objectOf, textOf } from '../request-body.ts'
import { assignBlock, blocksOf, removeServer, unassignBlock } from './blocks.ts'
import { refused } from './errors.ts'
import { renderServer } from './render.ts'
import { type RouteContext, accept, find, findById, list, paramOf } from './route-context.ts'
import type { Server } from './state.ts'
import { readTags } from './tags.ts'

const root = '/bmc/v1/servers'

const powerActions = {
  'power-on': 'powered-on',
  'power-off': 'powered-off',
  shutdown: 'powered-off',
  reboot: 'powered-on',
} as const

/** Registers the routes of servers. The control API adds servers: they cannot be ordered here. */
export function serverRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state, accountOf } = context
  const render = (server: Server) => renderServer(state, server)
  app.get(root, (request) => list(context, request, state.servers.values()).map(render))
  app.get(`${root}/:id`, (request) => render(find(context, request, state.servers)))
  app.put(`${root}/:id/tags`, (request) => {
    const server = find(context, request, state.servers)
    server.tags = readTags(state, accountOf(request), request.body)
    return render(server)
  })
  // Deprecated. This also deletes the blocks that are assigned to the server.
  app.delete(`${root}/:id`, (request) => {
    const server = find(context, request, state.servers)
    removeServer(state, server)
    return { result: 'Server has been deleted.', serverId: server.id }
  })
  app.post(`${root}/:id/actions/deprovision`, (request, reply) => {
    const server = find(context, request, state.servers)
    removeServer(state, server, { keepsBlocks: objectOf(request.body)['deleteIpBlocks'] !== true })
    return accept(reply, 'The server has been deprovisioned and related network setup is being updated.')
  })
  for (const [name, status] of Object.entries(powerActions))
    app.post(`${root}/:id/actions/${name}`, (request) => {
      find(context, request, state.servers).status = status
      return { result: 'The action has been accepted.' }
    })
  linkRoutes(app, context)
}

const links = `${root}/:id/network-configuration/ip-block-configurations/ip-blocks`

/** The block of a server: at most one of each family. */
function linkRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state } = context
  app.post(links, (request, reply) => {
    const server = find(context, request, state.servers)
    const id = textOf(objectOf(request.body)['id'])
    const block = findById(context, request, { all: state.blocks, id })
    if (blocksOf(state, server.id).some(({ version }) => version === block.version))
      throw refused(409, `Server ${server.id} has an IP Block already.`)
    if (block.location !== server.location) throw refused(409, 'IP Block and server are in different locations.')
    assignBlock(state, block, { kind: 'server', id: server.id })
    reply.code(202)
    return { id: block.id, vlanId: 10 }
  })
  app.delete(`${links}/:block`, (request, reply) => {
    const server = find(context, request, state.servers)
    const block = blocksOf(state, server.id).find(({ id }) => id === paramOf(request, 'block'))
    if (!block) throw refused(Number(state.behaviour.gone))
    unassignBlock(state, block, { isGivenUp: objectOf(request.body)['deleteIpBlocks'] === true })
    return accept(reply, 'The specified IP block is being removed from the server.')
  })
}
