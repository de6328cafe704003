import { isIPv4 } from 'node:net'
import { countOf, type Fields, fieldsOf, itemsOf, textOf } from '../loose-json.ts'
import type { Peer, ProjectPeering } from '../peering.ts'
import { Secret } from '../secret.ts'

/** BGP of a project as its configuration tells it: `off` where it was never turned on; undefined where it says neither. */
export function parseProjectPeering(body: unknown): ProjectPeering | 'off' | undefined {
  // Off is an empty structure: no body, or a list, says nothing.
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return undefined
  const config = fieldsOf(body)
  if (textOf(config.id) === undefined || config.status === 'disabled') return 'off'
  const asn = asnOf(config.asn)
  return asn === undefined ? undefined : { asn, password: secretOf(config.md5) }
}

/** Whether a BGP session, or a neighbor, is for IPv4. */
export function isIpv4({ address_family }: Fields): boolean {
  // A number on neighbors, a word on sessions.
  return address_family === 4 || address_family === 'ipv4'
}

/** The machine of a BGP session. */
export function machineOf(session: Fields): string | undefined {
  const { id, href } = fieldsOf(session.device)
  return textOf(id) ?? textOf(textOf(href)?.split('/').at(-1))
}

/** The IPv4 peers in an answer, in the order of their addresses; undefined where one of them is not whole. */
export function parsePeers(body: unknown): Peer[] | undefined {
  const neighbors = itemsOf(fieldsOf(body).bgp_neighbors)?.map(fieldsOf)
  if (!neighbors) return undefined
  const neighbor = neighbors.find(isIpv4)
  return neighbor ? peersOf(neighbor) : []
}

function peersOf(neighbor: Fields): Peer[] | undefined {
  const localAsn = asnOf(neighbor.customer_as)
  const peerAsn = asnOf(neighbor.peer_as)
  const sourceAddress = neighbor.customer_ip
  const addresses = addressesOf(neighbor.peer_ips)
  const hasPassword = neighbor.md5_enabled === true
  const password = hasPassword ? secretOf(neighbor.md5_password) : undefined
  if (!localAsn || !peerAsn || !isAddress(sourceAddress) || !addresses || hasPassword !== Boolean(password))
    return undefined
  const isMultihop = neighbor.multihop === true
  return addresses.map((peerAddress) => ({ localAsn, peerAsn, peerAddress, sourceAddress, isMultihop, password }))
}

/** Each once and in the order of their numbers; undefined where one of them is no address. */
function addressesOf(value: unknown): string[] | undefined {
  const addresses = itemsOf(value)
  if (!addresses?.every(isAddress)) return undefined
  return [...new Set(addresses)].toSorted((one, other) => numberOf(one) - numberOf(other))
}

/** Zero is reserved, and no router takes it. */
function asnOf(value: unknown): number | undefined {
  const number = countOf(value) ?? 0
  return number >= 1 && number <= 4_294_967_295 ? number : undefined
}

function isAddress(value: unknown): value is string {
  return typeof value === 'string' && isIPv4(value)
}

function secretOf(value: unknown): Secret | undefined {
  const text = textOf(value)
  return text === undefined ? undefined : new Secret(text)
}

function numberOf(ipv4: string): number {
  return ipv4.split('.').reduce((number, part) => number * 256 + Number(part), 0)
}
