import { canonicalIpAddress, formatIpv4Network } from '../../lib/ip-address.ts'
import { asnOf, peerAddressesOf, type Fields, fieldsOf, itemsOf, textOf, idOf } from '../http/loose-json.ts'
import type { Machine, MachineAddress } from '../ports/machines.ts'
import type { SeenSessions } from '../ports/peering.ts'

/** The parts of a server that we need: every response contains its passwords. */
export type Server = {
  machine: Machine
  bgp: {
    /** Undefined if the response lacks it, because a list may leave BGP out. */
    isOn: boolean | undefined
    /** The AS number of its project, once the project has one. */
    localAsn: number | undefined
    peerAsn: number | undefined
    peerAddresses: string[] | undefined
    seen: SeenSessions
  }
}

/** The server in a response; undefined if it has no id. */
export function parseServer(body: unknown): Server | undefined {
  const server = fieldsOf(body)
  const id = idOf(server.id)
  return id === undefined ? undefined : { machine: machineOf(server, id), bgp: bgpOf(server) }
}

/** Whether a server has power; undefined if the response does not say. */
export function parsePower(body: unknown): Machine['state'] | undefined {
  const { power } = fieldsOf(body)
  if (power === undefined || power === null) return undefined
  return power === 'on' || power === 'off' ? power : 'changing'
}

function machineOf(server: Fields, id: string): Machine {
  const addresses = itemsOf(server.ip_addresses)?.map(fieldsOf) ?? []
  return {
    id,
    name: textOf(server.hostname) ?? '',
    state: stateOf(server),
    type: textOf(fieldsOf(server.plan).slug),
    region: textOf(fieldsOf(server.region).slug),
    zone: undefined,
    addresses: addresses.flatMap((item) => machineAddressOf(item) ?? []),
    privateNetwork: addresses
      .filter(({ type }) => type === 'private-ip')
      .map(networkOf)
      .find(Boolean),
  }
}

/**
 * A server without power is `active` like any other: only a request for its power shows the difference. A server in
 * transition, or in an unknown state, does not count as off: Pods of a machine that is off may move to others.
 */
function stateOf({ state, status }: Fields): Machine['state'] {
  if (state === 'active') return status === 'deploying' ? 'changing' : 'unknown'
  return state === 'inactive' ? 'off' : 'changing'
}

/** Subnets and unknown types are not addresses of the machine itself. */
const kinds: Record<string, Omit<MachineAddress, 'address'>> = {
  'primary-ip': { isPublic: true, isElastic: false },
  'private-ip': { isPublic: false, isElastic: false },
  'floating-ip': { isPublic: true, isElastic: true },
}

function machineAddressOf(item: Fields): MachineAddress | undefined {
  const address = canonicalIpAddress(textOf(item.address) ?? '')
  const kind = kinds[textOf(item.type) ?? '']
  return address === undefined || kind === undefined ? undefined : { address, ...kind }
}

/** The network of an address, which the API writes as `10.179.192.0/24`. */
function networkOf({ cidr }: Fields): string | undefined {
  const [, network = '', length] = /^([^/]+)\/(\d{1,2})$/.exec(textOf(cidr) ?? '') ?? []
  return formatIpv4Network(network, Number(length))
}

/** The BGP of a server: the peers are the region's, and the AS number is the project's. */
function bgpOf({ bgp, project, region }: Fields): Server['bgp'] {
  const { hosts, asn } = fieldsOf(fieldsOf(region).bgp)
  const { enabled } = fieldsOf(bgp)
  return {
    isOn: typeof enabled === 'boolean' ? enabled : undefined,
    localAsn: asnOf(fieldsOf(fieldsOf(project).bgp).local_asn),
    peerAsn: asnOf(asn),
    peerAddresses: peerAddressesOf(hosts),
    seen: seenOf(fieldsOf(bgp)),
  }
}

/** How many routers there are, and how many of them have a session with the server. Without both numbers, nothing is known. */
function seenOf({ routers, connected, updated }: Fields): SeenSessions {
  const isKnown = Number.isInteger(routers) && Number.isInteger(connected)
  const [all, up] = isKnown ? [Number(routers), Number(connected)] : [0, 0]
  return { up, down: Math.max(0, all - up), seenAt: textOf(updated) }
}
