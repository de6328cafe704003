import type { FastifyInstance, FastifyRequest } from 'fastify'
import { objectOf, textOf } from '../request-body.ts'
import { assignBlock, blocksOf, freeBlock, isIn, readDescription, unassignBlock } from './blocks.ts'
import { invalid, refused } from './errors.ts'
import { renderNetwork, renderNetworkBlock } from './render.ts'
import { type RouteContext, accept, find, findById, isForced, list, locationIn, paramOf } from './route-context.ts'
import type { Block, PublicNetwork, State } from './state.ts'

const root = '/networks/v1/public-networks'

/** How many blocks of a family a public network has at most. */
const maxBlocks = { V4: 10, V6: 1 }

const allowedName = /^(?=.*[a-zA-Z])[a-zA-Z0-9(). -]{1,100}$/

/** Registers the routes of public networks: the vendor's former cloud controller manager used them. */
export function networkRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state } = context
  const render = (network: PublicNetwork) => renderNetwork(state, network)
  app.get(root, (request) => list(context, request, state.networks.values()).map(render))
  app.get(`${root}/:id`, (request) => render(find(context, request, state.networks)))
  app.post(root, (request, reply) => {
    reply.code(201)
    return render(createNetwork(context, request))
  })
  app.patch(`${root}/:id`, (request) => {
    const network = find(context, request, state.networks)
    const { name, description, raEnabled } = objectOf(request.body)
    Object.assign(network, {
      ...(name !== undefined && { name: readName(name) }),
      ...(description !== undefined && { description: readDescription(description) }),
      ...(raEnabled !== undefined && { raEnabled: raEnabled === true }),
    })
    return render(network)
  })
  app.delete(`${root}/:id`, (request, reply) => {
    const network = find(context, request, state.networks)
    if (network.members.length > 0) throw refused(409)
    for (const block of blocksOf(state, network.id)) freeBlock(state, block)
    state.networks.delete(network.id)
    return reply.code(204).send()
  })
  blockRoutes(app, context)
}

/** The blocks of a public network. */
function blockRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state } = context
  app.post(`${root}/:id/ip-blocks`, (request, reply) => {
    const network = find(context, request, state.networks)
    const id = textOf(objectOf(request.body)['id'])
    const block = findById(context, request, { all: state.blocks, id })
    checkBlocks(network, [...blocksOf(state, network.id), block])
    assignBlock(state, block, { kind: 'network', id: network.id })
    reply.code(202)
    return renderNetworkBlock(network, block)
  })
  app.delete(`${root}/:id/ip-blocks/:block`, (request, reply) => {
    const network = find(context, request, state.networks)
    const block = blocksOf(state, network.id).find(({ id }) => id === paramOf(request, 'block'))
    if (!block) throw refused(Number(state.behaviour.gone))
    const isUsed = network.members.some(({ ips }) => ips.some((ip) => isIn(block, ip)))
    if (isUsed && !isForced(request)) throw refused(409, 'Servers have addresses of the IP Block.')
    unassignBlock(state, block)
    return accept(reply, 'The specified IP block is being removed from the Public Network.')
  })
}

type NewNetwork = Pick<PublicNetwork, 'account' | 'name' | 'location'> & Partial<PublicNetwork>

/** Adds a public network without blocks or members. */
export function addNetwork(state: State, wanted: NewNetwork): PublicNetwork {
  const network = {
    id: state.newId(),
    vlanId: wanted.vlanId ?? state.newVlan(),
    description: '',
    raEnabled: false,
    members: [],
    createdAtMs: state.now(),
    ...wanted,
  }
  state.networks.set(network.id, network)
  return network
}

/** Creates a network with its blocks, or nothing if one of them is refused. */
function createNetwork(context: RouteContext, request: FastifyRequest): PublicNetwork {
  const { state, accountOf } = context
  const { name, location, description, vlanId, raEnabled, ipBlocks } = objectOf(request.body)
  const wanted = {
    account: accountOf(request),
    name: readName(name),
    location: locationIn(location),
    description: readDescription(description),
    ...(vlanId !== undefined && { vlanId: readVlan(vlanId) }),
    raEnabled: raEnabled === true,
  }
  const ids = new Set([ipBlocks ?? []].flat().map((one) => textOf(objectOf(one)['id'])))
  const blocks = [...ids].map((id) => findById(context, request, { all: state.blocks, id }))
  const taken = blocks.find(({ status }) => status !== 'unassigned')
  if (taken) throw refused(409, `IP Block is in status ${taken.status}.`)
  checkBlocks(wanted, blocks)
  const network = addNetwork(state, wanted)
  for (const block of blocks) assignBlock(state, block, { kind: 'network', id: network.id })
  return network
}

/** Throws if a network may not have these blocks together. */
function checkBlocks({ location }: Pick<PublicNetwork, 'location'>, blocks: Block[]): void {
  if (blocks.some((block) => block.location !== location))
    throw refused(409, 'IP Block and public network are in different locations.')
  for (const family of ['V4', 'V6'] as const)
    if (blocks.filter(({ version }) => version === family).length > maxBlocks[family])
      throw refused(409, `A public network has at most ${maxBlocks[family]} IP${family.toLowerCase()} blocks.`)
}

function readName(given: unknown): string {
  if (typeof given === 'string' && allowedName.test(given)) return given
  throw invalid(`name: must match ${allowedName.source}`)
}

function readVlan(given: unknown): number {
  if (Number.isInteger(given) && Number(given) >= 2 && Number(given) <= 4094) return Number(given)
  throw invalid('vlanId: must be between 2 and 4094')
}
