import { unlessDone } from '../ports/vendor-errors.ts'
import type { Peer, Peering, ProjectPeering, SeenSessions } from '../ports/peering.ts'
import { unreadableError } from './errors.ts'
import { type Project, projectHints, type ProjectOptions, wholeList } from './project.ts'
import { asnOf, isAddress, peerAddressesOf, type Fields, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import { Secret } from '../../lib/secret.ts'

/** How many addresses the routers accept from a node: the project's max_prefix, which only the vendor's support can change. */
export const maxPrefixes = 10

/** According to the documentation it is not paged, so we send no page size. */
const sessionList = { name: 'sessions', query: {}, field: 'bgp_sessions' }

/** BGP of a project and, for IPv4, of its machines. */
export function peeringOf(project: Project): Peering {
  return {
    project: (signal) => findPeering(project, signal),
    enable: (wanted, signal) => enable(project, wanted, signal),
    machines: async (signal) => new Set((await listSessions(project, signal)).keys()),
    sessions: (signal) => listSessions(project, signal),
    enableOn: (machine, signal) => enableOn(project, machine, signal),
    peers: (machine, signal) => listPeers(project, machine, signal),
  }
}

async function findPeering({ http, id }: Project, signal: AbortSignal): Promise<ProjectPeering | undefined> {
  const path = ['projects', id, 'bgp-config']
  const { body } = await http.call({ name: 'peering', method: 'GET', path, hints: projectHints }, signal)
  const peering = parseProjectPeering(body)
  if (!peering) throw unreadableError('peering', 'no BGP configuration')
  return peering === 'off' ? undefined : peering
}

async function enable(project: Project, { asn, password }: ProjectPeering, signal: AbortSignal): Promise<void> {
  const md5 = password?.reveal()
  const body = {
    deployment_type: 'local',
    ...(asn && { asn }),
    use_case: 'kubernetes-load-balancer',
    ...(md5 && { md5 }),
  }
  const path = ['projects', project.id, 'bgp-configs']
  const hints = {
    invalid: 'check the project id, the ASN, and that a password is 10 to 20 letters, lower and upper case, and digits',
  }
  const secrets = md5 ? [md5] : []
  const call = project.http.call({ name: 'enable-peering', method: 'POST', path, body, hints, secrets }, signal)
  await unlessDone(call, async () => (await findPeering(project, signal)) !== undefined)
}

/** A combined session for each machine, instead of its sessions with all routers. */
async function listSessions({ http, id }: Project, signal: AbortSignal): Promise<Map<string, SeenSessions>> {
  const path = ['projects', id, 'bgp', 'sessions']
  const sessions = await wholeList(http, { ...sessionList, path, hints: projectHints }, signal)
  return new Map(
    sessions.filter(isIpv4).flatMap((session): [string, SeenSessions][] => {
      const machine = machineOf(session)
      return machine === undefined ? [] : [[machine, parseSession(session)]]
    }),
  )
}

async function enableOn({ http, id }: Project, machine: string, signal: AbortSignal): Promise<void> {
  const path = ['devices', machine, 'bgp', 'sessions']
  const body = { address_family: 'ipv4' }
  const hints = { invalid: `check that the machine exists, and that BGP is enabled and approved on project ${id}` }
  const call = http.call({ name: 'enable-session', method: 'POST', path, body, hints }, signal)
  await unlessDone(call, async () => (await wholeList(http, { ...sessionList, path, hints }, signal)).some(isIpv4))
}

async function listPeers(project: Project, machine: string, signal: AbortSignal): Promise<Peer[]> {
  const path = ['devices', machine, 'bgp', 'neighbors']
  const hints = { invalid: 'check that the machine exists' }
  const { body } = await project.http.call({ name: 'peers', method: 'GET', path, hints }, signal)
  const peers = parsePeers(body, project)
  if (!peers) throw unreadableError('peers', 'an incomplete list of BGP neighbors')
  return peers
}

/** The BGP of a project by its configuration: `off` if it was never enabled; undefined if the response shows neither. */
export function parseProjectPeering(body: unknown): ProjectPeering | 'off' | undefined {
  // Off is an empty object. A missing body or a list proves nothing.
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return undefined
  const config = fieldsOf(body)
  if (textOf(config.id) === undefined || config.status === 'disabled') return 'off'
  const asn = asnOf(config.asn)
  return asn === undefined ? undefined : { asn, password: secretOf(config.md5) }
}

/** Whether a BGP session or a neighbor is for IPv4. */
function isIpv4({ address_family }: Fields): boolean {
  // Neighbors have a number here, sessions have a text.
  return address_family === 4 || address_family === 'ipv4'
}

/** The machine of a BGP session. */
export function machineOf(session: Fields): string | undefined {
  const { id, href } = fieldsOf(session.device)
  return textOf(id) ?? textOf(textOf(href)?.split('/').at(-1))
}

/** The states of a BGP session's routers, one word for each, such as `up,down`. */
function parseSession({ status, updated_at }: Fields): SeenSessions {
  const words = (textOf(status) ?? '').split(',')
  const count = (wanted: string) => words.filter((word) => word.trim() === wanted).length
  return { up: count('up'), down: count('down'), seenAt: textOf(updated_at) }
}

/** The IPv4 peers in a response, ordered by address; undefined if one of them is incomplete. */
export function parsePeers(body: unknown, options: ProjectOptions = {}): Peer[] | undefined {
  const neighbors = itemsOf(fieldsOf(body).bgp_neighbors)?.map(fieldsOf)
  if (!neighbors) return undefined
  const neighbor = neighbors.find(isIpv4)
  return neighbor ? peersOf(neighbor, options) : []
}

function peersOf(neighbor: Fields, options: ProjectOptions): Peer[] | undefined {
  const localAsn = asnOf(neighbor.customer_as)
  const peerAsn = asnOf(options.peerAsn ?? neighbor.peer_as ?? options.otherPeerAsn)
  const sourceAddress = neighbor.customer_ip
  const addresses = peerAddressesOf(neighbor.peer_ips)
  const hasPassword = neighbor.md5_enabled === true
  const password = hasPassword ? secretOf(neighbor.md5_password) : undefined
  if (!localAsn || !peerAsn || !isAddress(sourceAddress) || !addresses || hasPassword !== Boolean(password))
    return undefined
  const isMultihop = neighbor.multihop === true
  return addresses.map((peerAddress) => ({ localAsn, peerAsn, peerAddress, sourceAddress, isMultihop, password }))
}

function secretOf(value: unknown): Secret | undefined {
  const text = textOf(value)
  return text === undefined ? undefined : new Secret(text)
}
