import type { Machine, Machines, MachineAddress } from '../ports/machines.ts'
import { requireSameId, unreadableError } from './errors.ts'
import { type Project, pathOf } from './project.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'

/** The servers of a project in its zone. */
export function machinesOf(project: Project): Machines {
  return {
    async machines(signal) {
      const listed = await project.servers.fresh(signal)
      const attached = await attachedTo(project, listed, signal)
      return listed.flatMap((server) => parseServer(server, attached) ?? [])
    },
    machine: (id, signal) => findMachine(project, id, signal),
  }
}

/** A single server; undefined proves that it does not exist: the complete list lacks it. */
export async function findMachine(project: Project, id: string, signal: AbortSignal): Promise<Machine | undefined> {
  const path = [...pathOf.servers(project), id]
  const { status, body } = await project.http.call({ name: 'machine', method: 'GET', path, accept: [404] }, signal)
  if (status === 404) {
    const listed = await project.servers.fresh(signal)
    if (listed.every((server) => server.id !== id)) return undefined
    throw unreadableError('machine', `404 although the list has server ${id}`)
  }
  const machine = requireSameId(parseServer(body, await attachedTo(project, [body], signal)), id, 'machine')
  if (machine.state === 'unknown')
    throw unreadableError('machine', `server ${id} in a state that is neither on nor off`)
  return machine
}

/** The flexible IPs of the project, read only if servers may show some of them among their own addresses. */
async function attachedTo(
  project: Project,
  servers: readonly unknown[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (!servers.some(mayShowAttached)) return new Set()
  return new Set((await project.addresses.fresh(signal)).map(({ reservation }) => reservation.address))
}

/** The server in a response; undefined if it has no id. `attached` are the flexible IPs that are not its own. */
function parseServer(body: unknown, attached: ReadonlySet<string>): Machine | undefined {
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
    // Private networks have their own API, and sessions here need no source address.
    privateNetwork: undefined,
  }
}

const changing = ['starting', 'stopping', 'delivering', 'resetting', 'migrating', 'ordered', 'deleting']

function stateOf(status: unknown): Machine['state'] {
  if (status === 'ready') return 'on'
  if (status === 'stopped') return 'off'
  return changing.some((one) => one === status) ? 'changing' : 'unknown'
}

/**
 * Whether some of its addresses may be flexible IPs. Each server has one of its own, but perhaps of a single family.
 */
function mayShowAttached(body: unknown): boolean {
  return (itemsOf(fieldsOf(body).ips) ?? []).length > 1
}

function addressesOf(ips: unknown, attached: ReadonlySet<string>): MachineAddress[] {
  const texts = (itemsOf(ips) ?? []).map((ip) => textOf(fieldsOf(ip).address)?.replace(/\/\d+$/, '') ?? '')
  const known = texts.flatMap((text) => canonicalIpAddress(text) ?? [])
  // A Service has the first address of a flexible network.
  const isElastic = (address: string) =>
    attached.has(address) || (address.endsWith('::') && attached.has(`${address}1`))
  return known.map((address) => ({ address, isPublic: true, isElastic: isElastic(address) }))
}
