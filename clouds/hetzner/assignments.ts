import { isIPv4 } from 'node:net'
import { fieldsOf, textOf } from '../http/loose-json.ts'
import { writeOfMove } from '../http/move-write.ts'
import {
  type AssignedAddress,
  type Assignments,
  type Movable,
  type MoveOptions,
  isStill,
} from '../ports/assignments.ts'
import { CloudError, afterWrite } from '../ports/cloud.ts'
import { findFloatingIp } from './reservations.ts'
import type { FloatingIp } from './parse-floating-ip.ts'
import { goneError, refusal } from './errors.ts'
import type { Project } from './project.ts'

/** Reads and changes which servers the addresses of a project are assigned to. */
export function assignmentsOf(project: Project): Assignments {
  return {
    async assignedAddresses(tag, signal) {
      const [key = '', ...rest] = tag?.split('=') ?? []
      const all = await project.addressesForMoves.fresh(signal)
      const isTagged = ({ labels }: FloatingIp) => labels[key] === rest.join('=')
      return all.filter((ip) => tag === undefined || (isTagged(ip) && isIPv4(ip.reservation.address))).map(shown)
    },
    async assignedAddress(id, signal) {
      const found = await findFloatingIp(project, { id, lane: 'move' }, signal)
      return found && shown(found)
    },
    move: (target, options) => move(project, target, options),
    unassign: (target, options) => unassign(project, target, options),
  }
}

function shown({ reservation: { id, address, marks }, labels, server, home }: FloatingIp): AssignedAddress {
  const tags = Object.entries(labels).flatMap(([key, value]) =>
    value === '' ? [key, `${key}=`] : [`${key}=${textOf(value)}`],
  )
  return { id, address, machines: server === undefined ? [] : [server], tags, marks, home }
}

type Target = Parameters<Assignments['move']>[0]

/**
 * A single call moves an address from one server to another. The next read shows it once the action has ended. Ids are
 * never reused, so the caller's read suffices.
 */
async function move(project: Project, target: Target, options: MoveOptions): Promise<void> {
  const { id, machine, from } = target
  const machines = from ?? (await find(project, target, options.signal))?.machines
  if (!machines) throw goneError(id)
  if (machines.includes(machine)) return
  try {
    await assign(project, { id, machine }, options)
  } catch (error) {
    if (!(error instanceof CloudError) || error.code !== 'floating_ip_assigned') throw error
    const now = await findFloatingIp(project, { id, lane: 'move' }, options.signal)
    // The refusal says that this server already has the address, and a read may lag.
    if (now?.server === undefined || now.server === machine) return
    if (!machines.includes(now.server)) throw betweenError(now.reservation.address, now.server)
    // The refusal may concern any server.
    await unassign(project, target, options)
    await assign(project, { id, machine }, options).catch((after: unknown) => {
      throw afterWrite(after)
    })
  }
}

async function assign(
  project: Project,
  { id, machine }: Pick<Target, 'id' | 'machine'>,
  options: MoveOptions,
): Promise<void> {
  const hints = { invalid: `check that floating IP ${id} and server ${machine} exist` }
  const server = Number(machine)
  await act(project, { name: 'assign', id, body: { server }, hints, isDone: (now) => now?.server === machine }, options)
}

function betweenError(address: string, server: string): CloudError {
  return refusal(`address ${address} was assigned to server ${server} in between`, 'conflict')
}

async function find(project: Project, target: Movable, signal: AbortSignal): Promise<AssignedAddress | undefined> {
  const found = await findFloatingIp(project, { id: target.id, lane: 'move' }, signal)
  return found && isStill(shown(found), target) ? shown(found) : undefined
}

/** Unassigns an address; success if no server has it, or it is deleted. */
async function unassign(project: Project, target: Movable, options: MoveOptions): Promise<void> {
  const { machines = [] } = (await find(project, target, options.signal)) ?? {}
  if (machines.length === 0) return
  await act(
    project,
    { name: 'unassign', id: target.id, body: {}, hints: {}, isDone: (now) => now?.server === undefined },
    options,
  )
}

type Act = {
  name: 'assign' | 'unassign'
  id: string
  body: object
  hints: { invalid?: string }
  /** Whether the address already is as the action would leave it. */
  isDone: (now: FloatingIp | undefined) => boolean
}

async function act(project: Project, { name, id, body, hints, isDone }: Act, options: MoveOptions): Promise<void> {
  const path = ['floating_ips', id, 'actions', name]
  try {
    const answer = await writeOfMove(project.http, { name, method: 'POST', path, body, hints }, options)
    await project.actions.ended(fieldsOf(answer.body).action, options.signal).catch((error: unknown) => {
      throw afterWrite(error)
    })
  } catch (error) {
    if (!mayBeDone(name, error)) throw error
    const now = findFloatingIp(project, { id, lane: 'move' }, options.signal)
    if (!isDone(await now)) throw error
  }
}

/**
 * Whether the address may already be as the action would leave it. The API refuses such actions, with undocumented
 * codes. After a move without a clear answer, the caller looks.
 */
function mayBeDone(name: Act['name'], error: unknown): boolean {
  if (!(error instanceof CloudError)) return false
  return error.outcome === 'nothing' ? error.fault === 'invalid' : name === 'unassign'
}
