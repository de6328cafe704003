import { type Fields, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import type { Machine } from '../ports/machines.ts'
import { ipv4In } from './account.ts'

/** The server in a response, of which we read no password. `lent` are our addresses that are not its own. */
export function parseServer(server: Fields, lent: ReadonlySet<string>): Machine {
  return {
    id: textOf(server.id) ?? '',
    name: textOf(server.hostname) ?? '',
    state: stateOf(server.status),
    type: textOf(server.type),
    region: textOf(server.location),
    zone: undefined,
    addresses: [
      ...ipv4In(server.privateIpAddresses).map((address) => ({ address, isPublic: false, isElastic: false })),
      ...ipv4In(server.publicIpAddresses).map((address) => ({ address, isPublic: true, isElastic: lent.has(address) })),
    ],
    // The API names private networks by their ids.
    privateNetwork: undefined,
  }
}

/** Whatever is neither on nor off may become either. Pods of a machine that is off may be moved to others. */
function stateOf(status: unknown): Machine['state'] {
  if (status === 'powered-on') return 'on'
  return status === 'powered-off' ? 'off' : 'changing'
}

/** Whether some of its public addresses may be ours: its own is one, and comes from no public network. */
export function mayHaveLent({ publicIpAddresses, networkConfiguration }: Fields): boolean {
  const { publicNetworks } = fieldsOf(fieldsOf(networkConfiguration).publicNetworkConfiguration)
  return ipv4In(publicIpAddresses).length > 1 || (itemsOf(publicNetworks)?.length ?? 0) > 0
}
