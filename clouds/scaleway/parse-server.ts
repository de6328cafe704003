import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import type { Machine, MachineAddress } from '../ports/machines.ts'

/** The server in a response; undefined if it has no id. `attached` are the flexible IPs that are not its own. */
export function parseServer(body: unknown, attached: ReadonlySet<string>): Machine | undefined {
  const server = fieldsOf(body)
  const id = textOf(server.id)
  if (id === undefined) return undefined
  const zone = textOf(server.zone)
  return {
    id,
    name: textOf(server.name) ?? '',
    state: stateOf(server.status),
    type: textOf(server.offer_name),
    region: zone?.replace(/-\d+$/, ''),
    zone,
    maxAddresses: 64,
    addresses: addressesOf(server.ips, attached),
    // Private networks have an API of their own, and are not needed where sessions have no source address.
    privateNetwork: undefined,
  }
}

const changing = ['starting', 'stopping', 'delivering', 'resetting', 'migrating', 'ordered', 'deleting']

function stateOf(status: unknown): Machine['state'] {
  if (status === 'ready') return 'on'
  if (status === 'stopped') return 'off'
  return changing.some((one) => one === status) ? 'changing' : 'unknown'
}

/** Whether some of its addresses may be flexible IPs: each server has one address of its own in each family. */
export function mayShowAttached(body: unknown): boolean {
  const versions = (itemsOf(fieldsOf(body).ips) ?? []).map((ip) => fieldsOf(ip).version)
  return new Set(versions).size < versions.length
}

function addressesOf(ips: unknown, attached: ReadonlySet<string>): MachineAddress[] {
  const texts = itemsOf(ips)?.map((ip) => canonicalIpAddress(textOf(fieldsOf(ip).address) ?? '')) ?? []
  const known = texts.filter((address) => address !== undefined)
  // A Service has the first address of a flexible network.
  const isElastic = (address: string) =>
    attached.has(address) || (address.endsWith('::') && attached.has(`${address}1`))
  return known.map((address) => ({ address, isPublic: true, isElastic: isElastic(address) }))
}
