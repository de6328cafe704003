import type { FastifyInstance } from 'fastify'
import { objectOf, textOf } from '../request-body.ts'
import { assignBlock, blocksOf, readDescription, unassignBlock } from './blocks.ts'
import { ApiError, invalid } from './errors.ts'
import { renderNetwork, renderNetworkBlock } from './render.ts'
import { type RouteContext, find, findById, list, locationIn, paramOf } from './route-context.ts'
import type { PublicNetwork, State } from './state.ts'

const root = '/networks/v1/public-networks'
const memberships = '/bmc/v1/servers/:id/network-configuration/public-network-configuration/public-networks'

const maxBlocks = 10

/** Registers the routes of public networks: the vendor's former cloud controller manager used them. */
export function networkRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state, accountOf } = context
  const render = (network: PublicNetwork) => renderNetwork(state, network)
  app.get(root, (request) => list(context, request, state.networks.values()).map(render))
  app.get(`${root}/:id`, (request) => render(find(context, request, state.networks)))
  app.post(root, (request, reply) => {
    const body = objectOf(request.body)
    if (textOf(body['name']) === '') throw invalid('name: must not be empty')
    const location = locationIn(body['location'])
    const description = readDescription(body['description'])
    const network = addNetwork(state, {
      account: accountOf(request),
      name: textOf(body['name']),
      location,
      description,
    })
    for (const { id } of [body['ipBlocks'] ?? []].flat().map(objectOf))
      attach(context, network, findById(context, request, { all: state.blocks, id: textOf(id) }))
    reply.code(201)
    return render(network)
  })
  app.delete(`${root}/:id`, (request, reply) => {
    const network = find(context, request, state.networks)
    if (network.members.length > 0 || blocksOf(state, network.id).length > 0) throw new ApiError(409)
    state.networks.delete(network.id)
    return reply.code(204).send()
  })
  linkRoutes(app, context)
}

/** The blocks of a public network, and its servers. */
function linkRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state } = context
  app.post(`${root}/:id/ip-blocks`, (request, reply) => {
    const network = find(context, request, state.networks)
    const id = textOf(objectOf(request.body)['id'])
    const block = findById(context, request, { all: state.blocks, id })
    attach(context, network, block)
    reply.code(202)
    return renderNetworkBlock(network, block)
  })
  app.delete(`${root}/:id/ip-blocks/:block`, (request, reply) => {
    const network = find(context, request, state.networks)
    const block = blocksOf(state, network.id).find(({ id }) => id === paramOf(request, 'block'))
    if (!block) throw new ApiError(Number(state.behaviour.gone))
    unassignBlock(state, block)
    return reply.code(202).type('application/json').send(JSON.stringify('The IP Block is being removed.'))
  })
  app.post(memberships, (request, reply) => {
    const server = find(context, request, state.servers)
    const { id, ips } = objectOf(request.body)
    const network = findById(context, request, { all: state.networks, id: textOf(id) })
    if (network.members.some((member) => member.server === server.id)) throw new ApiError(409)
    const member = { server: server.id, ips: Array.isArray(ips) ? ips.map(String) : [] }
    network.members.push(member)
    reply.code(202)
    return { id: network.id, ips: member.ips, vlanId: network.vlanId, statusDescription: 'assigning' }
  })
}

/** Adds a public network without blocks or members. */
export function addNetwork(
  state: State,
  wanted: Pick<PublicNetwork, 'account' | 'name' | 'location' | 'description'>,
): PublicNetwork {
  const network = {
    ...wanted,
    id: state.newId(),
    vlanId: state.newVlan(),
    members: [],
    createdAtMs: state.now(),
  }
  state.networks.set(network.id, network)
  return network
}

function attach({ state }: RouteContext, network: PublicNetwork, block: Parameters<typeof assignBlock>[1]): void {
  if (blocksOf(state, network.id).filter(({ version }) => version === 'V4').length >= maxBlocks)
    throw new ApiError(409, `A public network has at most ${maxBlocks} IPv4 blocks.`)
  assignBlock(state, block, { kind: 'network', id: network.id })
}
