import type { Password, Peer } from '../../clouds/ports/peering.ts'
import { type JsonObject, isJsonObject } from '../../lib/json.ts'
import type { NodePeers } from '../../announcers/announcer.ts'

/** A fact as text, with its passwords. Equal facts give equal texts. */
export function factText({ node, hostname, machine, privateNetwork, peers }: PeerFact): string {
  const kept = peers.map(({ localAsn, peerAsn, peerAddress, sourceAddress, isMultihop, password }) => {
    return { localAsn, peerAsn, peerAddress, sourceAddress, isMultihop, password: password?.reveal() }
  })
  return JSON.stringify({ node, hostname, machine, privateNetwork, peers: kept })
}

/** Facts as one text, sorted by node, because each fact begins with the name of its node. */
export function listText(facts: string[]): string {
  return `[${facts.toSorted().join(',\n')}]`
}

/** The facts in such a text; undefined if any part of it is not a fact. */
export function parseFacts(text: string): PeerFact[] | undefined {
  try {
    return wholeList(JSON.parse(text), parseFact)
  } catch {
    return undefined
  }
}

function parseFact(value: unknown): PeerFact | undefined {
  const { node, hostname, machine, privateNetwork, peers } = fieldsOf(value)
  const parsed = wholeList(peers, parsePeer)
  if (typeof node !== 'string' || typeof hostname !== 'string' || typeof machine !== 'string' || !parsed)
    return undefined
  return {
    node,
    hostname,
    machine,
    privateNetwork: typeof privateNetwork === 'string' ? privateNetwork : undefined,
    peers: parsed,
  }
}

function parsePeer(value: unknown): Peer | undefined {
  const { localAsn, peerAsn, peerAddress, sourceAddress, isMultihop, password } = fieldsOf(value)
  if (typeof localAsn !== 'number' || typeof peerAsn !== 'number' || typeof isMultihop !== 'boolean') return undefined
  if (typeof peerAddress !== 'string' || typeof sourceAddress !== 'string') return undefined
  return {
    localAsn,
    peerAsn,
    peerAddress,
    sourceAddress,
    isMultihop,
    password: typeof password === 'string' ? hidden(password) : undefined,
  }
}

/** A list if every item can be parsed; otherwise undefined. */
function wholeList<T>(value: unknown, parse: (item: unknown) => T | undefined): T[] | undefined {
  if (!Array.isArray(value)) return undefined
  const items = value.map(parse)
  return items.every((item) => item !== undefined) ? items : undefined
}

/** A closure hides the password from everything that prints objects. */
function hidden(text: string): Password {
  return { reveal: () => text }
}

function fieldsOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

/** The provider's last answer about a node that takes part in BGP. */
export type PeerFact = NodePeers & {
  /** The id of the node's machine. */
  machine: string
  /** The network of its private address, in CIDR notation. */
  privateNetwork: string | undefined
}
