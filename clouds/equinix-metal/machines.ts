import { CloudError } from '../ports/cloud.ts'
import type { VendorCall } from '../http/request.ts'
import { fieldsOf, itemsOf } from '../http/loose-json.ts'
import type { Machine, Machines } from '../ports/machines.ts'
import { parseMachine } from './parse-machine.ts'
import { type Project, projectHints, unreadableError } from './project.ts'
import { type List, wholeList } from './whole-list.ts'

/** Without it the private network is only a reference; this form is known to work. */
const include = 'ip_addresses.parent_block,parent_block'

/** The machines of a project. */
export function machinesOf(project: Project): Machines {
  return {
    machines: async (signal) => (await listed(project, signal)).filter((machine) => machine !== undefined),
    machine: (id, signal) => findMachine(project, id, signal),
  }
}

async function findMachine(project: Project, id: string, signal: AbortSignal): Promise<Machine | undefined> {
  const call: VendorCall = { name: 'machine', method: 'GET', path: ['devices', id], query: { include } }
  const { status, body } = await project.http.call({ ...call, accept: [403, 404] }, signal)
  if (status === 403) return findForbidden(project, id, signal)
  if (status === 404) return confirmGone(project, signal)
  const machine = parseMachine(body, project)
  if (!machine) throw unreadableError('machine', 'an object without an id')
  return machine
}

/** A key that lost its rights in the project gets 404 for everything: only if it still reads the list is the machine gone. */
async function confirmGone(project: Project, signal: AbortSignal): Promise<undefined> {
  const { name, path, field } = listOf(project)
  const { body } = await project.http.call(
    { name, method: 'GET', path, hints: projectHints, query: { per_page: 1 } },
    signal,
  )
  if (!itemsOf(fieldsOf(body)[field])) throw unreadableError(name, `no ${field}`)
}

/** 403 means a deleted machine, some failed ones, or a key without the right: the list tells them apart. */
async function findForbidden(project: Project, id: string, signal: AbortSignal): Promise<Machine | undefined> {
  const machines = await listed(project, signal)
  const found = machines.find((machine) => machine?.id === id)
  if (found) return found
  if (machines.length > 0 && !machines.includes(undefined)) return undefined
  const message = `Equinix Metal: machine ${id} cannot be read, and the list of machines does not prove that it is gone`
  throw new CloudError(`${message}; check that the API key may read project ${project.id}`, {
    fault: 'auth',
    outcome: 'nothing',
  })
}

/** Every machine, and undefined for each one without an id. */
async function listed(project: Project, signal: AbortSignal): Promise<(Machine | undefined)[]> {
  return (await wholeList(project.http, listOf(project), signal)).map((device) => parseMachine(device, project))
}

function listOf({ id }: Project): List {
  const path = ['projects', id, 'devices']
  return { name: 'machines', path, query: { include, per_page: 100 }, hints: projectHints, field: 'devices' }
}
