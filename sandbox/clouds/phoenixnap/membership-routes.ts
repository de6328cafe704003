import type { FastifyInstance, FastifyRequest } from 'fastify'
import { objectOf, textOf } from '../request-body.ts'
import { blocksOf, isIn } from './blocks.ts'
import { invalid, refused } from './errors.ts'
import { renderMember } from './render.ts'
import { type RouteContext, accept, find, findById, isForced, paramOf } from './route-context.ts'
import type { PublicNetwork, Server, State } from './state.ts'

const root = '/bmc/v1/servers/:id/network-configuration/public-network-configuration/public-networks'

/**
 * Registers the routes of servers in public networks. Only the switches change: customers configure their hosts
 * themselves.
 */
export function membershipRoutes(app: FastifyInstance, context: RouteContext): void {
  const { state } = context
  const networkOf = (request: FastifyRequest, id: string) => findById(context, request, { all: state.networks, id })
  app.post(root, (request, reply) => {
    const server = find(context, request, state.servers)
    const network = networkOf(request, textOf(objectOf(request.body)['id']))
    if (memberOf(network, server)) throw refused(409, `Server ${server.id} is in the public network already.`)
    if (server.location !== network.location)
      throw refused(409, 'Server and public network are in different locations.')
    const member = { server: server.id, ips: readIps(state, request, { network, server }) }
    network.members.push(member)
    reply.code(202)
    return renderMember(network, member, 'in-progress')
  })
  app.patch(`${root}/:network`, (request) => {
    const { server, network, member } = membershipIn(request)
    if (objectOf(request.body)['ips'] !== undefined) member.ips = readIps(state, request, { network, server })
    return renderMember(network, member)
  })
  app.delete(`${root}/:network`, (request, reply) => {
    const { network, member } = membershipIn(request)
    network.members = network.members.filter((one) => one !== member)
    return accept(reply, 'The server is being removed from the specified Public Network.')
  })

  function membershipIn(request: FastifyRequest) {
    const server = find(context, request, state.servers)
    const network = networkOf(request, paramOf(request, 'network'))
    const member = memberOf(network, server)
    if (!member) throw refused(Number(state.behaviour.gone))
    return { server, network, member }
  }
}

function memberOf({ members }: PublicNetwork, { id }: Server) {
  return members.find(({ server }) => server === id)
}

/** Reads the addresses of a server in a network. A forced request may name none, or another server's. */
function readIps(
  state: State,
  request: FastifyRequest,
  { network, server }: { network: PublicNetwork; server: Server },
): string[] {
  const { ips: given, computeSlaacIp } = objectOf(request.body)
  const ips = Array.isArray(given) ? given.map(String) : []
  const blocks = blocksOf(state, network.id)
  const foreign = ips.find((ip) => !blocks.some((block) => isIn(block, ip)))
  if (foreign !== undefined) throw invalid(`ips: ${foreign} is not in the public network`)
  if (isForced(request)) return ips
  if (ips.length === 0 && computeSlaacIp !== true) throw invalid('ips: at least one is required')
  const taken = network.members.filter((member) => member.server !== server.id).flatMap((member) => member.ips)
  if (ips.some((ip) => taken.includes(ip))) throw refused(409, 'Another server has one of the addresses.')
  return ips
}
