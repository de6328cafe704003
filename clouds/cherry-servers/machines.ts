import type { VendorCall } from '../http/request.ts'
import { itemsOf } from '../http/loose-json.ts'
import type { Machine, Machines } from '../ports/machines.ts'
import { unreadableError } from './errors.ts'
import { parsePower, parseServer } from './parse-server.ts'
import { type Project, projectHints } from './project.ts'

/** The machines of a project. */
export function machinesOf(project: Project): Machines {
  return {
    machines: async (signal) => (await project.servers.fresh(signal)).map(({ machine }) => machine),
    machine: (id, signal) => findMachine(project, id, signal),
  }
}

async function findMachine(project: Project, id: string, signal: AbortSignal): Promise<Machine | undefined> {
  const call: VendorCall = { name: 'machine', method: 'GET', path: ['servers', id] }
  const { status, body } = await project.http.call({ ...call, accept: [404] }, signal)
  if (status === 404) return confirmGone(project, signal)
  const { machine } = parseServer(body) ?? {}
  if (!machine) throw unreadableError('machine', 'an object without an id')
  if (machine.state !== 'unknown') return machine
  const { body: found } = await project.http.call({ ...call, name: 'power', query: { fields: 'power' } }, signal)
  return { ...machine, state: parsePower(found) ?? 'on' }
}

/** A key that lost its rights in the project may get 404 for everything: only if it still reads the list is the machine gone. */
async function confirmGone({ http, id }: Project, signal: AbortSignal): Promise<undefined> {
  const path = ['projects', id, 'servers']
  const call: VendorCall = { name: 'machines', method: 'GET', path, query: { limit: 1 }, hints: projectHints }
  const { body } = await http.call(call, signal)
  if (!itemsOf(body)) throw unreadableError('machines', 'no list')
}
