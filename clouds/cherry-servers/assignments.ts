import { type AssignedAddress, type Assignments, type MoveOptions, isStill } from '../ports/assignments.ts'
import { unlessGone } from '../ports/vendor-errors.ts'
import type { VendorCall } from '../http/request.ts'
import { writeOfMove } from '../http/move-write.ts'
import { goneError, refusal } from './errors.ts'
import type { Address } from './parse-address.ts'
import { type Project, findAddress } from './project.ts'

/** Reads and changes which machines the addresses of a project are assigned to. */
export function assignmentsOf(project: Project): Assignments {
  return {
    async assignedAddresses(tag, signal) {
      const [key, value] = partsOf(tag ?? '')
      const all = await project.addresses.fresh(signal)
      const tagged = tag === undefined ? all : all.filter(({ tags }) => tags[key] === value)
      return tagged.filter(({ reservation }) => reservation.address !== undefined).map(shown)
    },
    async assignedAddress(id, signal) {
      const found = await findAddress(project, { id, lane: 'move' }, signal)
      return found && shown(found)
    },
    move: (target, options) => move(project, target, options),
    async unassign(movable, options) {
      const { id } = movable
      const found = await findAddress(project, { id, lane: 'move' }, options.signal)
      // No server has this id. A PUT without the field would change nothing.
      if (found?.server !== undefined && isStill(shown(found), movable))
        await target(project, { id, machine: '0' }, options)
    },
  }
}

/** The key and the value of a tag written as a single text; the first `=` ends the key. */
function partsOf(tag: string): [key: string, value: string] {
  const [key = '', ...rest] = tag.split('=')
  return [key, rest.join('=')]
}

function shown({ reservation: { id, address, marks }, server, tags }: Address): AssignedAddress {
  if (address === undefined) throw refusal(`address ${id} has no number yet`, 'unavailable')
  return {
    id,
    address,
    machines: server === undefined ? [] : [server],
    tags: Object.entries(tags).flatMap(([key, value]) => namesOf(key, value)),
    marks,
  }
}

/** The texts by which a setting may name a tag: a tag without a value also by its key alone. */
function namesOf(key: string, value: unknown): string[] {
  if (typeof value !== 'string') return []
  return value === '' ? [key, `${key}=`] : [`${key}=${value}`]
}

/** A single PUT moves the address: no unassignment is needed first, and omitted fields stay unchanged. */
async function move(
  project: Project,
  movable: Parameters<Assignments['move']>[0],
  options: MoveOptions,
): Promise<void> {
  const { id, machine } = movable
  const found = await findAddress(project, { id, lane: 'move' }, options.signal)
  if (!found || !isStill(shown(found), movable)) throw goneError(id)
  const { address, machines } = shown(found)
  if (machines.includes(machine)) return
  const hints = {
    invalid: `check that address ${address} was not deleted, and that server ${machine} is in its project and region`,
  }
  await unlessGone(target(project, { id, machine, hints }, options), async () => {
    if (!(await findAddress(project, { id, lane: 'move' }, options.signal))) throw goneError(id)
    return true
  })
}

async function target(
  { http }: Project,
  { id, machine, hints = {} }: { id: string; machine: string; hints?: VendorCall['hints'] },
  options: MoveOptions,
): Promise<void> {
  const body = { targeted_to: machine }
  await writeOfMove(http, { name: 'move', method: 'PUT', path: ['ips', id], body, hints }, options)
}
