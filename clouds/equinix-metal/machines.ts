import { isIPv4 } from 'node:net'
import { canonicalIpAddress, formatIpv4Network } from '../../lib/ip-address.ts'
import type { VendorCall } from '../http/request.ts'
import { countOf, type Fields, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import type { Machine, MachineAddress, Machines } from '../ports/machines.ts'
import { refusal, requireSameId, unreadableError } from './errors.ts'
import { type Project, type ProjectOptions, projectHints, type List, wholeList } from './project.ts'

/** The form of a machine id, in both dialects. */
export const machineId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Without it, the private network is only a reference; this form is known to work. */
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
  return requireSameId(parseMachine(body, project), id, 'machine')
}

/**
 * A key without rights in the project gets 404 for everything: the machine is gone only if the key still reads the
 * list.
 */
async function confirmGone(project: Project, signal: AbortSignal): Promise<undefined> {
  const { name, path, field } = listOf(project)
  const { body } = await project.http.call(
    { name, method: 'GET', path, hints: projectHints, query: { per_page: 1 } },
    signal,
  )
  if (!itemsOf(fieldsOf(body)[field])) throw unreadableError(name, `no ${field}`)
}

/** 403 means a deleted machine, some failed ones, or a key without the right. The list tells which. */
async function findForbidden(project: Project, id: string, signal: AbortSignal): Promise<Machine | undefined> {
  const machines = await listed(project, signal)
  const found = machines.find((machine) => machine?.id === id)
  if (found) return found
  if (machines.length > 0 && !machines.includes(undefined)) return undefined
  const text = `machine ${id} cannot be read, and the list of machines does not prove that it no longer exists`
  throw refusal(`${text}; check that the API key may read project ${project.id}`, 'auth')
}

/** Every machine, with undefined for each one that has no id. */
async function listed(project: Project, signal: AbortSignal): Promise<(Machine | undefined)[]> {
  return (await wholeList(project.http, listOf(project), signal)).map((device) => parseMachine(device, project))
}

function listOf({ id }: Project): List {
  const path = ['projects', id, 'devices']
  return { name: 'machines', path, query: { include, per_page: 100 }, hints: projectHints, field: 'devices' }
}

/** The machine in a response; undefined if it has no id. */
export function parseMachine(body: unknown, { places }: ProjectOptions = {}): Machine | undefined {
  const device = fieldsOf(body)
  const id = textOf(device.id)
  if (id === undefined) return undefined
  const assignments = itemsOf(device.ip_addresses)?.map(fieldsOf) ?? []
  return {
    id,
    name: textOf(device.hostname) ?? '',
    state: stateOf(device.state),
    type: textOf(fieldsOf(device.plan).slug),
    region: regionOf(device, places),
    // Nodes never had a zone: a new one would separate volumes from their Pods.
    zone: undefined,
    addresses: assignments.flatMap((assignment) => parseAddress(assignment) ?? []),
    privateNetwork: assignments.filter(isPrivate).map(networkOf).find(Boolean),
  }
}

/** A failed machine, or one in an unknown state, does not count as off, because Pods of a machine that is off may move. */
function stateOf(state: unknown): Machine['state'] {
  if (state === 'active') return 'on'
  return state === 'inactive' ? 'off' : 'changing'
}

/** The region as the predecessors wrote it: the metro, or the facility where facilities were the places. */
function regionOf({ metro, facility }: Fields, places: ProjectOptions['places']): string | undefined {
  const { code, metro: around } = fieldsOf(facility)
  const own = places === 'facilities' ? textOf(code) : undefined
  return (own ?? textOf(fieldsOf(metro).code) ?? textOf(fieldsOf(around).code))?.toLowerCase()
}

function parseAddress(assignment: Fields): MachineAddress | undefined {
  const address = canonicalIpAddress(textOf(assignment.address) ?? '')
  if (address === undefined) return undefined
  return { address, isPublic: assignment.public === true, isElastic: assignment.management === false }
}

function isPrivate({ public: isPublic, management, address }: Fields): boolean {
  return isPublic === false && management === true && isIPv4(textOf(address) ?? '')
}

/** The machine's own network has two addresses; the machines of the metro share the block around it. */
function networkOf({ parent_block }: Fields): string | undefined {
  const block = fieldsOf(parent_block)
  return formatIpv4Network(textOf(block.network) ?? '', countOf(block.cidr) ?? -1)
}
