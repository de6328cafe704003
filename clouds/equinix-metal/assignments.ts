import { type AssignedAddress, type Assignments, type MoveOptions, isStill } from '../ports/assignments.ts'
import { afterWrite } from '../ports/cloud.ts'
import { unlessDone } from '../ports/vendor-errors.ts'
import { type Fields, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import { writeOfMove } from '../http/move-write.ts'
import { goneError, refusal, unreadableError } from './errors.ts'
import { isReservation, parseReservation, publicTypes } from './parse-reservation.ts'
import { type Project, wholeList } from './project.ts'
import { addressesOf, findItem } from './reservations.ts'

/** The assignment of an address to a machine, which has its own id. */
type Assignment = { id: string; machine: string }

type Assigned = Omit<AssignedAddress, 'machines'> & { assignments: Assignment[] }

/** Without it, an assignment is only a reference. */
const include = 'assignments'

/** Reads and changes which machines the addresses of a project are assigned to. */
export function assignmentsOf(project: Project): Assignments {
  return {
    assignedAddresses: (tag, signal) => findTagged(project, tag, signal),
    async assignedAddress(id, signal) {
      const found = await find(project, id, signal)
      return found && shown(found)
    },
    move: (target, options) => move(project, target, options),
    async unassign(target, options) {
      const found = await find(project, target.id, options.signal)
      if (!found || !isStill(shown(found), target)) return
      for (const assignment of found.assignments) await unassign(project, assignment, options)
    },
  }
}

async function findTagged(project: Project, tag: string | undefined, signal: AbortSignal): Promise<AssignedAddress[]> {
  const list = addressesOf(project)
  const whole = { ...list, name: 'assignments', query: { ...list.query, include } }
  const tagged = (await wholeList(project.http, whole, signal)).filter(
    (item) => isReservation(item) && (tag === undefined || itemsOf(item.tags)?.includes(tag)),
  )
  return tagged.filter((item) => parseReservation(item)?.address !== undefined).map((item) => shown(parse(item)))
}

async function find(project: Project, id: string, signal: AbortSignal): Promise<Assigned | undefined> {
  const item = await findItem(project, { name: 'assignment', id, lane: 'move', query: { include } }, signal)
  return item && parse(item)
}

function parse(item: Fields): Assigned {
  const { id, address, marks = {} } = parseReservation(item) ?? {}
  const assignments = parseAssignments(item)
  if (id === undefined || !assignments) throw unreadableError('assignment', 'an incomplete list of assignments')
  if (address === undefined) throw refusal(`reservation ${id} has no address yet`, 'unavailable')
  const tags = (itemsOf(item.tags) ?? []).filter((tag) => typeof tag === 'string')
  return { id, address, assignments, tags, marks }
}

function shown({ assignments, ...address }: Assigned): AssignedAddress {
  return { ...address, machines: assignments.map(({ machine }) => machine) }
}

type Target = Parameters<Assignments['move']>[0]

/**
 * The API has no move: it deletes the old assignment and then makes a new one. In between, the address is on no
 * machine. If another program then assigns the address to another machine, the API refuses ours and the address stays
 * there.
 */
async function move(project: Project, target: Target, options: MoveOptions): Promise<void> {
  const found = await find(project, target.id, options.signal)
  if (!found || !isStill(shown(found), target)) throw goneError(target.id)
  const others = found.assignments.filter(({ machine }) => machine !== target.machine)
  const freed: Assignment[] = []
  try {
    for (const other of others) {
      await unassign(project, other, options)
      freed.push(other)
    }
    if (others.length === found.assignments.length) await assign(project, { ...target, ...found }, options)
  } catch (error) {
    if (freed.length === 0) throw error
    const machines = freed.map(({ machine }) => machine).join(', ')
    throw afterWrite(error, `; before that, address ${found.address} was taken from machine ${machines}`)
  }
}

/** Deletes an assignment; success if it is already deleted. */
async function unassign({ http }: Project, { id }: Assignment, options: MoveOptions): Promise<void> {
  await writeOfMove(http, { name: 'unassign', method: 'DELETE', path: ['ips', id], accept: [404] }, options)
}

async function assign(project: Project, target: Target & { address: string }, options: MoveOptions): Promise<void> {
  const { machine, address } = target
  const path = ['devices', machine, 'ips']
  const hints = { invalid: `check that machine ${machine} exists, in the metro of address ${address}` }
  const body = { address: `${address}/32` }
  const write = writeOfMove(project.http, { name: 'assign', method: 'POST', path, body, hints }, options)
  await unlessDone(write, () => isThere(project, target, options))
}

/** Whether the address is already at the machine. */
async function isThere(project: Project, { id, machine }: Target, { signal }: MoveOptions): Promise<boolean> {
  const found = await find(project, id, signal)
  const other = found?.assignments.find((one) => one.machine !== machine)
  if (found && other)
    throw refusal(`address ${found.address} was assigned to machine ${other.machine} in between`, 'conflict')
  return (found?.assignments.length ?? 0) > 0
}

/**
 * The assignments of a reservation's address, read with `include=assignments`; undefined if the response lacks some of
 * them. Assignments of other addresses of the block are not ours.
 */
export function parseAssignments(reservation: Fields): Assignment[] | undefined {
  const items = itemsOf(reservation.assignments)?.map(fieldsOf)
  const assignments = items
    ?.filter((item) => isOfAddress(item, reservation))
    .map((item) => parseAssignment(item, reservation))
  return assignments?.every((one) => one !== undefined) ? assignments : undefined
}

function isOfAddress({ address, cidr }: Fields, reservation: Fields): boolean {
  const isWhole = address === undefined || address === reservation.address
  return isWhole && (cidr === undefined || cidr === 32)
}

/** We delete by this id, and deleting a reservation loses the address, so nothing that may be one is an assignment. */
function parseAssignment({ id, type, assigned_to }: Fields, reservation: Fields): Assignment | undefined {
  const machine = machineOf(fieldsOf(assigned_to))
  const own = textOf(id)
  const isBlock = own === reservation.id || publicTypes.includes(textOf(type) ?? '')
  return own === undefined || machine === undefined || isBlock ? undefined : { id: own, machine }
}

function machineOf({ id, href }: Fields): string | undefined {
  return textOf(id) ?? /\/devices\/([^/]+)$/.exec(textOf(href) ?? '')?.[1]
}
