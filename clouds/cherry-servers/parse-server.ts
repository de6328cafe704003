import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { formatIpv4Network } from '../../lib/ip-range.ts'
import { asnOf, peerAddressesOf } from '../loose-bgp.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../loose-json.ts'
import type { Machine, MachineAddress } from '../machines.ts'
import { idOf } from './id.ts'

/** A server, with no more of it than is needed: its passwords come with every answer. */
export type Server = {
  machine: Machine
  bgp: {
    isOn: boolean
    /** The number of its project, once that has one. */
    localAsn: number | undefined
    peerAsn: number | undefined
    peerAddresses: string[] | undefined
  }
}

/** The server in an answer; undefined where it has no id to know it by. */
export function parseServer(body: unknown): Server | undefined {
  const server = fieldsOf(body)
  const id = idOf(server.id)
  return id === undefined ? undefined : { machine: machineOf(server, id), bgp: bgpOf(server) }
}

/** Whether a server has power; undefined where it does not say. */
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
 * One that is switched off is `active` like all others: who wants to know has to ask for its power. What is in between,
 * or has a state that nobody has heard of, is not off: what is off may lose its work to others.
 */
function stateOf({ state, status }: Fields): Machine['state'] {
  if (state === 'active') return status === 'deploying' ? 'changing' : 'unknown'
  return state === 'inactive' ? 'off' : 'changing'
}

/** Whole subnets, and whatever kinds there will be, are no addresses of the machine itself. */
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

/** As the API writes it: `10.179.192.0/24`. */
function networkOf({ cidr }: Fields): string | undefined {
  const [, network = '', length] = /^([^/]+)\/(\d{1,2})$/.exec(textOf(cidr) ?? '') ?? []
  return formatIpv4Network(network, Number(length))
}

/** With whom is a matter of the region, with which number of the project. */
function bgpOf({ bgp, project, region }: Fields): Server['bgp'] {
  const { hosts, asn } = fieldsOf(fieldsOf(region).bgp)
  return {
    isOn: fieldsOf(bgp).enabled === true,
    localAsn: asnOf(fieldsOf(fieldsOf(project).bgp).local_asn),
    peerAsn: asnOf(asn),
    peerAddresses: peerAddressesOf(hosts),
  }
}
