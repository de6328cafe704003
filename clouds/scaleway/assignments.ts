import { isIPv4 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeOfMove } from '../http/move-write.ts'
import {
  type AssignedAddress,
  type Assignments,
  type Movable,
  type MoveOptions,
  leastWriteMs,
  isStill,
} from '../ports/assignments.ts'
import { CloudError, afterWrite } from '../ports/cloud.ts'
import { isRefused } from '../ports/vendor-errors.ts'
import { goneError, refusal } from './errors.ts'
import { findMachine } from './machines.ts'
import type { FlexibleIp } from './parse-flexible-ip.ts'
import { type Project, pathOf, findFlexibleIp } from './project.ts'

/** Reads and changes the servers to which a project's addresses are attached. In transit, the API's answer counts. */
export function assignmentsOf(project: Project): Assignments {
  return {
    async assignedAddresses(tag, signal) {
      const all = await project.addressesForMoves.fresh(signal)
      const isTagged = (ip: FlexibleIp, of: string) => ip.tags.includes(of) && isIPv4(ip.reservation.address)
      return all.filter((ip) => tag === undefined || isTagged(ip, tag)).map(shown)
    },
    async assignedAddress(id, signal) {
      const found = await findFlexibleIp(project, { id, lane: 'move' }, signal)
      return found && shown(found)
    },
    move: (target, options) => move(project, target, options).catch(throwOfMachine),
    unassign: (target, options) => unassign(project, target, options),
  }
}

function shown({ reservation: { id, address, marks }, tags, server }: FlexibleIp): AssignedAddress {
  return { id, address, machines: server === undefined ? [] : [server], tags, marks }
}

/** A full server refuses each further address with a quota fault, but another one may have room. */
function throwOfMachine(error: unknown): never {
  if (!(error instanceof CloudError) || error.fault !== 'quota') throw error
  throw new CloudError(error.message, { fault: 'invalid', outcome: error.outcome, cause: error })
}

type Target = Movable & { machine: string }

/**
 * A single call moves an address, if the vendor accepts that, which was never recorded. Otherwise the address is
 * detached first. The provider reuses the id of a deleted address, so each write relies on our own read.
 */
async function move(project: Project, target: Target, options: MoveOptions): Promise<void> {
  const { machine } = target
  const before = await present(project, target, options.signal)
  if (before.server === machine && !before.isChanging) return
  const refused = await tryToAttach(project, target, options)
  if (!refused) return
  const { isChanging } = await present(project, target, options.signal)
  const now = await settled(project, target, options.signal)
  if (now.server === machine) return
  // The refusal was about a change that has ended meanwhile.
  if (isChanging) return attach(project, target, options)
  if (now.server === undefined && !now.isBroken) throw refused
  if (now.server !== undefined && now.server !== before.server) throw betweenError(now, now.server, 'nothing')
  // The refusal may be about the server. No server loses an address for one that cannot have it.
  if ((await findMachine(project, machine, options.signal))?.state !== 'on') throw refused
  await detach(project, target.id, options)
  await attachAfterDetach(project, { target, server: now.server }, options)
}

async function attachAfterDetach(
  project: Project,
  { target, server }: { target: Target; server: string | undefined },
  options: MoveOptions,
): Promise<void> {
  const free = await settledAfterWrite(project, target, options.signal)
  if (free.server === target.machine) return
  if (free.server !== undefined) throw betweenError(free, free.server, 'unknown')
  try {
    await attach(project, target, options)
  } catch (error) {
    throw afterWrite(error, `; address ${free.reservation.address} was taken from machine ${server ?? 'none'}`)
  }
}

/** Attaches an address to a server, and waits for it. Returns the refusal if the address cannot be attached as it is. */
async function tryToAttach(project: Project, target: Target, options: MoveOptions): Promise<CloudError | undefined> {
  let isSent = false
  const writeMs = () => {
    const ms = options.writeMs()
    isSent = ms >= leastWriteMs
    return ms
  }
  try {
    await attach(project, target, { ...options, writeMs })
    return undefined
  } catch (error) {
    if (isSent && isRefused(error, ['conflict', 'invalid', 'auth'])) {
      await present(project, target, options.signal)
      if (error.fault !== 'auth') return error
    }
    throw error
  }
}

async function attach(project: Project, target: Target, options: MoveOptions): Promise<void> {
  const { id, machine } = target
  const hints = {
    invalid: `check that address ${id} and server ${machine} exist in zone ${project.zone}`,
    quota: `server ${machine} has no room for another address`,
  }
  const body = { fips_ids: [id], server_id: machine }
  const path = [...pathOf.addresses(project), 'attach']
  await writeOfMove(project.http, { name: 'attach', method: 'POST', path, body, hints }, options)
  const now = await settledAfterWrite(project, target, options.signal)
  if (now.server === machine) return
  if (now.server !== undefined) throw betweenError(now, now.server, 'unknown')
  const { address } = now.reservation
  throw refusal(`address ${address} was not attached to server ${machine}, though that began`, 'unavailable', 'unknown')
}

async function detach(project: Project, id: string, options: MoveOptions): Promise<void> {
  const path = [...pathOf.addresses(project), 'detach']
  await writeOfMove(project.http, { name: 'detach', method: 'POST', path, body: { fips_ids: [id] } }, options)
}

/** Detaches an address; success if no server has it, or it is deleted. */
async function unassign(project: Project, target: Movable, options: MoveOptions): Promise<void> {
  if (!(await find(project, target, options.signal))) return
  const now = await settled(project, target, options.signal)
  if (now.server === undefined && !now.isBroken) return
  await detach(project, target.id, options)
  const after = await settledAfterWrite(project, target, options.signal)
  if (after.server !== undefined) throw betweenError(after, after.server, 'unknown')
}

async function find(project: Project, target: Movable, signal: AbortSignal): Promise<FlexibleIp | undefined> {
  const found = await findFlexibleIp(project, { id: target.id, lane: 'move' }, signal)
  return found && isStill(shown(found), target) ? found : undefined
}

async function present(project: Project, target: Movable, signal: AbortSignal): Promise<FlexibleIp> {
  const found = await find(project, target, signal)
  if (!found) throw goneError(target.id)
  return found
}

/** Servers process their changes one after another, ten seconds each. A later one continues without us. */
const maxMs = 20_000

/** Waits until no change of an address is in progress. A single list serves all that wait. */
async function settled(project: Project, target: Movable, signal: AbortSignal): Promise<FlexibleIp> {
  const endsAtMs = performance.now() + maxMs
  for (;;) {
    const listed = await project.addressesForMoves.fresh(signal)
    const found = listed.find((ip) => ip.reservation.id === target.id && isStill(shown(ip), target))
    if (!found) throw goneError(target.id)
    if (!found.isChanging) return found
    const text = `address ${found.reservation.address} is still being attached or detached`
    // The change of another address comes first, which says nothing about the server.
    if (performance.now() > endsAtMs) throw refusal(text, 'rate-limit')
    // All callers wake up together, so that they share a list.
    await sleep(project.pollMs - (performance.now() % project.pollMs), undefined, { signal }).catch(() => {
      throw refusal(`${text}, and nothing waits for it`, 'rate-limit')
    })
  }
}

async function settledAfterWrite(project: Project, target: Movable, signal: AbortSignal): Promise<FlexibleIp> {
  return settled(project, target, signal).catch((error: unknown) => {
    throw afterWrite(error)
  })
}

function betweenError({ reservation }: FlexibleIp, server: string, outcome: CloudError['outcome']): CloudError {
  return refusal(`address ${reservation.address} was assigned to machine ${server} in between`, 'conflict', outcome)
}
