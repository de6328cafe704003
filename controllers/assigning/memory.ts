// What is known of the addresses, from lists and looks at the cloud and from our own changes.
import type { AssignedAddress, Assignments } from '../../clouds/ports/assignments.ts'
import type { Clock } from '../../kube/clock.ts'
import type { Log } from '../../kube/log.ts'
import { sharedRead } from '../../lib/shared-read.ts'
import { type MovableAddress, type Mover, mover } from '../moves/mover.ts'

const cooldownMs = 60_000

export type MemoryDeps = {
  assignments: Assignments
  /** The reservation of an address that the ledger has. */
  reservationOf: (address: string) => string | undefined
  /** Whether an address is another cluster's by its marks: the cloud gave it the id, or this cluster changed its own. */
  isOthers: (found: AssignedAddress) => boolean
  clock: Clock
  log: Log
}

/** What we know of one address. */
export type Entry = {
  mover: Mover
  /** Undefined too where the address is another cluster's. */
  known: MovableAddress | undefined
  isOthers: boolean
  /** The id that the last look found, also where the address is another cluster's. */
  readId: string | undefined
  readAtMs: number
  /** Whether the service controller waits until no machine has it. */
  isLeaving: boolean
  /** Whether a move or an unassignment is under way: a list that is read meanwhile may be from before it. */
  isChanging: boolean
  /** When the last one ended: a list that began before may not have it. */
  changedAtMs: number
  former: string | undefined
  strangerSinceMs: number | undefined
  problem: string | undefined
  isArrived: boolean
}

export type Memory = {
  entries: ReadonlyMap<string, Entry>
  entryOf: (address: string) => Entry
  readAll: (signal: AbortSignal) => Promise<void>
}

/** Knows nothing of the addresses yet. `changed` receives those that have other machines than before. */
export function makeMemory(deps: MemoryDeps, changed: (address: string) => void): Memory {
  const { assignments, clock, reservationOf } = deps
  const entries = new Map<string, Entry>()
  const entryOf = (address: string) => {
    const entry = entries.get(address) ?? newEntry(deps)
    entries.set(address, entry)
    return entry
  }
  const read = async (signal: AbortSignal) => {
    const atMs = clock.now()
    const listed = new Set<string>()
    for (const found of await assignments.assignedAddresses(undefined, signal)) {
      const { address } = found
      if (reservationOf(address) !== found.id) continue
      listed.add(address)
      const entry = entryOf(address)
      if (entry.isChanging || entry.changedAtMs > atMs) continue
      const before = stateOf(entry)
      see(deps, entry, { found, atMs })
      if (stateOf(entry) !== before) changed(address)
    }
    for (const [address, entry] of entries) {
      if (reservationOf(address) === undefined) entries.delete(address)
      // A list may lag: only a read by its id shows that an address is gone.
      else if (!listed.has(address) && !entry.isChanging && entry.readAtMs <= atMs) entry.readAtMs = -Infinity
    }
  }
  const abandonedError = (cause: unknown) => new Error('nobody waits for the list of addresses', { cause })
  // One list serves all that are about to move.
  const list = sharedRead({ read, recentMs: 0, abandonedError })
  return { entries, entryOf, readAll: (signal) => list.fresh(signal) }
}

function newEntry({ assignments, clock, log }: MemoryDeps): Entry {
  return {
    mover: mover({
      what: 'an address',
      assign: (target, options) => assignments.move(target, options),
      cooldownMs,
      clock,
      log,
      onAttempt: () => {},
    }),
    known: undefined,
    isOthers: false,
    readId: undefined,
    readAtMs: -Infinity,
    isLeaving: false,
    isChanging: false,
    changedAtMs: -Infinity,
    former: undefined,
    strangerSinceMs: undefined,
    problem: undefined,
    isArrived: false,
  }
}

/** Keeps what the cloud says of an address. What another cluster has is neither moved nor taken from its machine. */
export function see(
  { isOthers }: Pick<MemoryDeps, 'isOthers'>,
  entry: Entry,
  { found, atMs }: { found: AssignedAddress | undefined; atMs: number },
): void {
  entry.isOthers = found !== undefined && isOthers(found)
  entry.readId = found?.id
  keep(entry, { found: entry.isOthers ? undefined : found, atMs })
}

/** What a reconcile depends on: the machines of an address, or that it is another cluster's. */
function stateOf({ isOthers, known }: Entry): string | true | undefined {
  return isOthers || known?.machines.join()
}

export function keep(entry: Entry, { found, atMs }: { found: MovableAddress | undefined; atMs: number }): void {
  entry.known = found
  entry.readAtMs = atMs
  if (found?.machines.length === 1) [entry.former] = found.machines
}

/** The machine that has an address, or is about to get it. */
export function placeOf(entry: Entry | undefined): string | undefined {
  return entry?.mover.tried()?.to.machine ?? entry?.known?.machines[0]
}

/** How many addresses each machine has, or is about to get. */
export function loads(entries: ReadonlyMap<string, Entry>): (machine: string) => number {
  const counts = new Map<string, number>()
  for (const { known, mover: moving } of entries.values()) {
    const machines = new Set([...(known?.machines ?? []), moving.tried()?.to.machine])
    for (const machine of machines) if (machine !== undefined) counts.set(machine, (counts.get(machine) ?? 0) + 1)
  }
  return (machine) => counts.get(machine) ?? 0
}
