import type { Machine, Machines } from '../ports/machines.ts'
import { unreadableError } from './errors.ts'
import { mayShowAttached, parseServer } from './parse-server.ts'
import { type Project, pathOf } from './project.ts'

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
  const machine = parseServer(body, await attachedTo(project, [body], signal))
  if (!machine) throw unreadableError('machine', 'an object without an id')
  if (machine.state === 'unknown')
    throw unreadableError('machine', `server ${id} in a state that is neither on nor off`)
  return machine
}

/** The flexible IPs of the project, if the servers may show some of them among their own addresses. */
async function attachedTo(
  project: Project,
  servers: readonly unknown[],
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  if (!servers.some(mayShowAttached)) return new Set()
  return new Set((await project.addresses.fresh(signal)).map(({ reservation }) => reservation.address))
}
