import { canonicalIpAddress, firstHostOf } from '../../lib/ip-address.ts'
import { fieldsOf, itemsOf, textOf, idOf } from '../http/loose-json.ts'
import type { Machine, MachineAddress } from '../ports/machines.ts'

/** The datacenters that the API named until 2026. Hetzner's own program still writes them as the zones of nodes. */
const datacenters: Readonly<Record<string, string>> = {
  ash: 'ash-dc1',
  fsn1: 'fsn1-dc14',
  hel1: 'hel1-dc2',
  hil: 'hil-dc1',
  nbg1: 'nbg1-dc3',
  sin: 'sin-dc1',
}

/** The server in a response; undefined if it has no id. Its floating IPs are only ids, not addresses of its own. */
export function parseServer(body: unknown): Machine | undefined {
  const server = fieldsOf(body)
  const id = idOf(server.id)
  if (id === undefined) return undefined
  const location = fieldsOf(server.location)
  const region = textOf(location.name)
  const networkZone = textOf(location.network_zone)
  return {
    id,
    name: textOf(server.name) ?? '',
    state: stateOf(server.status),
    type: textOf(fieldsOf(server.server_type).name),
    region,
    zone: region && (datacenters[region] ?? region),
    labels: { 'instance.hetzner.cloud/provided-by': 'cloud' },
    ...(networkZone !== undefined && { networkZone }),
    addresses: [...publicAddresses(server.public_net), ...privateAddresses(server.private_net)],
    // Reading it takes a call for each network, and sessions here need no source address.
    privateNetwork: undefined,
  }
}

/** A server that is being deleted, rebuilt or moved to another host is in transition. */
function stateOf(status: unknown): Machine['state'] {
  if (status === 'running') return 'on'
  if (status === 'off') return 'off'
  return status === 'unknown' || textOf(status) === undefined ? 'unknown' : 'changing'
}

/** A server lacks an address in a family without a Primary IP. The host usually has the first one of its IPv6 network. */
function publicAddresses(net: unknown): MachineAddress[] {
  const { ipv4, ipv6 } = fieldsOf(net)
  return addressesOf([textOf(fieldsOf(ipv4).ip), firstHostOf(textOf(fieldsOf(ipv6).ip) ?? '')], true)
}

function privateAddresses(nets: unknown): MachineAddress[] {
  return addressesOf(itemsOf(nets)?.map((net) => textOf(fieldsOf(net).ip)) ?? [], false)
}

function addressesOf(texts: (string | undefined)[], isPublic: boolean): MachineAddress[] {
  const known = texts.map((text) => canonicalIpAddress(text ?? '')).filter((address) => address !== undefined)
  return known.map((address) => ({ address, isPublic, isElastic: false }))
}
