import { type Fields, fieldsOf } from '../http/loose-json.ts'
import type { Machine, Machines } from '../ports/machines.ts'
import type { Account } from './account.ts'
import { refusal } from './errors.ts'
import { readOne } from './find-block.ts'
import { parseBlock } from './parse-block.ts'
import { mayHaveLent, parseServer } from './parse-server.ts'

/** The servers of an account, in all locations. */
export function machinesOf(account: Account): Machines {
  return {
    machines: async (signal) => parseServers(account, await account.servers.fresh(signal), signal),
    machine: (id, signal) => findMachine(account, id, signal),
  }
}

/** The machines of these servers. Blocks are read only if a server may have one of our addresses beside its own. */
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
  // No answer names the account. A client of another one sees other servers, or none: that proves nothing.
  if ((await account.servers.recent(signal)).length > 0) return undefined
  throw refusal(`server ${id} is not in the account of the client, and no other server is: check the client id`, 'auth')
}
