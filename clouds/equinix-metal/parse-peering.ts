import { asnOf, isAddress, peerAddressesOf } from '../http/loose-bgp.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import type { Peer, ProjectPeering, SeenSessions } from '../ports/peering.ts'
import { Secret } from '../../lib/secret.ts'
import type { ProjectOptions } from './project.ts'

/** BGP of a project by its configuration: `off` if it was never turned on; undefined if the response shows neither. */
export function parseProjectPeering(body: unknown): ProjectPeering | 'off' | undefined {
  // Off is an empty object: no body, or a list, proves nothing.
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return undefined
  const config = fieldsOf(body)
  if (textOf(config.id) === undefined || config.status === 'disabled') return 'off'
  const asn = asnOf(config.asn)
  return asn === undefined ? undefined : { asn, password: secretOf(config.md5) }
}

/** Whether a BGP session, or a neighbor, is for IPv4. */
export function isIpv4({ address_family }: Fields): boolean {
  // A number in neighbors, a text in sessions.
  return address_family === 4 || address_family === 'ipv4'
}

/** The machine of a BGP session. */
export function machineOf(session: Fields): string | undefined {
  const { id, href } = fieldsOf(session.device)
  return textOf(id) ?? textOf(textOf(href)?.split('/').at(-1))
}

/** The states of a BGP session's routers: one word for each, such as `up,down`. */
export function parseSession({ status, updated_at }: Fields): SeenSessions {
  const words = (textOf(status) ?? '').split(',')
  const count = (wanted: string) => words.filter((word) => word.trim() === wanted).length
  return { up: count('up'), down: count('down'), seenAt: textOf(updated_at) }
}

/** The IPv4 peers in a response, in the order of their addresses; undefined if one of them is incomplete. */
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
