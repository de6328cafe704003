import { type Fields, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import type { Machine, Machines } from '../ports/machines.ts'
import { type Account, ipv4In, readOne } from './account.ts'
import { refusal } from './errors.ts'
import { parseBlock } from './parse-block.ts'

/** The servers of an account, in all locations. */
export function machinesOf(account: Account): Machines {
  return {
    machines: async (signal) => parseServers(account, await account.servers.fresh(signal), signal),
    machine: (id, signal) => findMachine(account, id, signal),
  }
}

/** The machines for these servers. Blocks are read only if a server may have one of our addresses beside its own. */
export async function parseServers(account: Account, servers: Fields[], signal: AbortSignal): Promise<Machine[]> {
  const lent = new Set<string>()
  if (servers.some(mayHaveLent))
    for (const { reservation } of (await account.blocks.recent(signal)).flatMap((item) => parseBlock(item) ?? []))
      if (reservation.address !== undefined && Object.keys(reservation.marks).length > 0) lent.add(reservation.address)
  return servers.map((server) => parseServer(server, lent))
}

async function findMachine(account: Account, id: string, signal: AbortSignal): Promise<Machine | undefined> {
  const body = await readOne(account, { name: 'machine', list: 'servers', id }, signal)
  if (body !== undefined) return (await parseServers(account, [fieldsOf(body)], signal))[0]
  // No answer names the account. A client of another account sees other servers, or none, which proves nothing.
  if ((await account.servers.recent(signal)).length > 0) return undefined
  throw refusal(`server ${id} is not in the account of the client, and no other server is: check the client id`, 'auth')
}

/** The server in a response, without its password. `lent` are our addresses, which are not its own. */
function parseServer(server: Fields, lent: ReadonlySet<string>): Machine {
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
    // The API identifies private networks only by id.
    privateNetwork: undefined,
  }
}

/** Any other state may become either. It does not count as off, because Pods of a machine that is off may move to others. */
function stateOf(status: unknown): Machine['state'] {
  if (status === 'powered-on') return 'on'
  return status === 'powered-off' ? 'off' : 'changing'
}

/** Whether some of its public addresses may be ours. A server has one of its own, which comes from no public network. */
function mayHaveLent({ publicIpAddresses, networkConfiguration }: Fields): boolean {
  const { publicNetworks } = fieldsOf(fieldsOf(networkConfiguration).publicNetworkConfiguration)
  return ipv4In(publicIpAddresses).length > 1 || (itemsOf(publicNetworks)?.length ?? 0) > 0
}
