// One address leads to one machine, and the cloud decides to which. The first row that applies decides.
//
//   the address                | and                                       | step
//   ---------------------------+-------------------------------------------+----------------------------
//   has no reservation of ours | a Service shows it                        | -, says why it leads nowhere
//   is gone at the cloud       |                                           | -, the sweep tells
//   is another cluster's now   | a Service shows it                        | -, says so
//   no Service shows it        | it is to be freed, and a machine has it   | look, then unassign
//                              | (a release waits for it, or has begun)    |
//   no Service shows it        |                                           | -
//   a Service shows it         | as move-plan.ts decides                   | look, then move; or wait
import type { AssignedAddress, Assignments } from '../../clouds/ports/assignments.ts'
import type { Problem } from '../../announcers/announcer.ts'
import type { Clock } from '../../kube/clock.ts'
import type { Log } from '../../kube/log.ts'
import type { Key } from '../../kube/objects.ts'
import { transferAnnotation } from '../../ledger/record/names.ts'
import type { Announcement } from '../announcing/announcing.ts'
import { forwardedKeys, type Watch } from '../loop/watch.ts'
import { type Reconciler, type Plan, runSteps } from '../loop/reconciler.ts'
import { type Decision, type MovableNode, planMove } from '../moves/move-plan.ts'
import { type MovableAddress, type Move, type Mover, mover } from '../moves/mover.ts'
import { sharedRead } from '../../lib/shared-read.ts'
import { nodeRules } from './node-probes.ts'
import { type ServiceNodeFacts, serviceWords } from './service-nodes.ts'

export type AssigningDeps = {
  assignments: Assignments
  /** The Services that show an address, by the caches. */
  showing: (address: string) => Key[]
  /** The reservation of an address that the ledger has. */
  reservationOf: (address: string) => string | undefined
  /** Whether the ledger has begun to delete the reservation of an address. */
  isReleasing: (address: string) => boolean
  /** Whether an address is another cluster's by its marks: the cloud gave it the id, or this cluster changed its own. */
  isOthers: (found: AssignedAddress) => boolean
  /** The other addresses of the Services that show an address. */
  partnersOf: (address: string) => string[]
  /** The nodes that may have an address, the best one first. */
  nodes: (address: string, of: Pick<ServiceNodeFacts, 'holder' | 'load' | 'beside'>) => MovableNode[]
  /** Receives a problem once, and again if it was gone in between. */
  report: (problem: Problem) => void
  /** Called when the cloud shows an address on a node: for the first time, or after a move. */
  onArrival: (arrival: Arrival) => void
  clock: Clock
  log: Log
}

/** An address that leads to a node now. `move` is absent where it was there before we looked. */
export type Arrival = { address: string; services: Key[]; move?: { from: string | undefined; to: string; why: string } }

export type Assigning = Reconciler & {
  /** As in `Announcing`: undefined as soon as no machine has the address. */
  findAnnouncement: (address: string, signal: AbortSignal) => Promise<Announcement | undefined>
  /** Whether the cloud has shown the address on a machine. */
  isAssigned: (address: string) => boolean
  /** Every address of the project and its machines, from one call. What differs from before is due. */
  readAll: (signal: AbortSignal) => Promise<void>
  /** Addresses that are due although nothing of the cluster has changed. */
  watch: Watch
}

type Step = { do: 'look' } | { do: 'unassign'; id: string } | { do: 'move'; move: Move; from: MovableAddress }

/** What we know of one address. */
type Entry = {
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
  former: string | undefined
  strangerSinceMs: number | undefined
  problem: string | undefined
  isArrived: boolean
}

type Seen = { address: string; services: Key[]; id: string | undefined; entry: Entry; isLive: boolean }

/** A step relies on a look at the cloud that is not older. */
const liveMs = 2_000
/** How old a look may be by which an address counts as free. */
const freeMs = 10_000
const cooldownMs = 60_000
const waitMs = 1_000
const maxSteps = 6

/** Brings each address to a node that can serve it, and takes it from all before it is released. */
export function assigning(deps: AssigningDeps): Assigning {
  const due = forwardedKeys()
  const memory = makeMemory(deps, due.add)
  return {
    name: 'assigning',
    watch: due.watch,
    isAssigned: (address) => (memory.entries.get(address)?.known?.machines.length ?? 0) > 0,
    reconcile: (address, signal) =>
      runSteps(
        {
          look: (aborted) => look(deps, { memory, address }, aborted),
          // Others choose their nodes meanwhile, so each choice counts at once.
          plan: (seen) => reported(deps, seen, planAssigning(seen, decide(deps, { ...seen, ...memory }))),
          carryOut: async (step, { entry }, aborted) =>
            step.do === 'look'
              ? memory.readAll(aborted).then(() => undefined)
              : carryOut(deps, { step, entry }, aborted),
          maxSteps,
        },
        signal,
      ),
    findAnnouncement: async (address) => {
      const services = deps.showing(address)
      if (services.length > 0) return { services }
      if (deps.reservationOf(address) === undefined) return undefined
      const entry = memory.entryOf(address)
      const isRecent = !entry.isChanging && deps.clock.now() - entry.readAtMs <= freeMs
      if (isRecent && (entry.known?.machines.length ?? 0) === 0) return undefined
      entry.isLeaving = true
      if (!isRecent) entry.readAtMs = -Infinity
      due.add(address)
      return { services: [] }
    },
    readAll: memory.readAll,
  }
}

type Memory = {
  entries: ReadonlyMap<string, Entry>
  entryOf: (address: string) => Entry
  readAll: (signal: AbortSignal) => Promise<void>
}

/** What is known of the addresses. `changed` receives those that have other machines than before. */
function makeMemory(deps: AssigningDeps, changed: (address: string) => void): Memory {
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
      if (entry.isChanging) continue
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

async function look(
  deps: AssigningDeps,
  { memory, address }: { memory: Memory; address: string },
  signal: AbortSignal,
): Promise<Seen> {
  const { assignments, clock, showing, reservationOf, isReleasing } = deps
  const [entry, services, id] = [memory.entryOf(address), showing(address), reservationOf(address)]
  if (services.length > 0) entry.isLeaving = false
  if (id !== undefined && (entry.readId !== id || entry.readAtMs === -Infinity)) {
    const atMs = clock.now()
    see(deps, entry, { found: await assignments.assignedAddress(id, signal), atMs })
  }
  if (services.length > 0) arrive(deps, entry, { address, services })
  // A leader before us may have begun the release while another one moved the address.
  if (services.length === 0 && isReleasing(address)) entry.isLeaving = true
  return { address, services, id, entry, isLive: clock.now() - entry.readAtMs <= liveMs }
}

function newEntry({ assignments, clock, log }: AssigningDeps): Entry {
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
    former: undefined,
    strangerSinceMs: undefined,
    problem: undefined,
    isArrived: false,
  }
}

/** Keeps what the cloud says of an address. What another cluster has is neither moved nor taken from its machine. */
function see(
  { isOthers }: Pick<AssigningDeps, 'isOthers'>,
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

function keep(entry: Entry, { found, atMs }: { found: MovableAddress | undefined; atMs: number }): void {
  entry.known = found
  entry.readAtMs = atMs
  if (found?.machines.length === 1) [entry.former] = found.machines
}

/** Tells that an address leads to a machine, when that is new. */
function arrive(
  { onArrival, nodes }: AssigningDeps,
  entry: Entry,
  { address, services }: { address: string; services: Key[] },
): void {
  const [machine, ...others] = entry.known?.machines ?? []
  if (machine === undefined || others.length > 0) return
  const tried = entry.mover.tried()
  if (tried?.to.machine === machine) {
    entry.mover.settle()
    const [before] = tried.from.machines
    const from =
      nodes(address, { holder: before, load: () => 0, beside: new Set() }).find((node) => node.machine === before)
        ?.name ?? before
    onArrival({ address, services, move: { from, to: tried.to.name, why: tried.why } })
  } else if (!entry.isArrived) onArrival({ address, services })
  entry.isArrived = true
}

function decide(
  { nodes, partnersOf, clock }: AssigningDeps,
  { address, entry, entries }: { address: string; entry: Entry; entries: ReadonlyMap<string, Entry> },
): Decision {
  const assigned = entry.known?.machines ?? []
  const [holder] = assigned
  const beside = new Set(partnersOf(address).flatMap((partner) => placeOf(entries.get(partner)) ?? []))
  const all = nodes(address, { holder, load: loads(entries), beside })
  const isStranger = assigned.length === 1 && !all.some(({ machine }) => machine === holder)
  entry.strangerSinceMs = isStranger ? (entry.strangerSinceMs ?? clock.now()) : undefined
  return planMove({
    nodes: all,
    assigned,
    former: entry.former,
    strangerForMs: entry.strangerSinceMs === undefined ? 0 : clock.now() - entry.strangerSinceMs,
    address: undefined,
    rules: nodeRules,
    words: serviceWords,
    refused: entry.mover.refused(),
    pause: (reason) => entry.mover.pause(reason),
  })
}

/** The machine that has an address, or is about to get it. */
function placeOf(entry: Entry | undefined): string | undefined {
  return entry?.mover.tried()?.to.machine ?? entry?.known?.machines[0]
}

/** How many addresses each machine has, or is about to get. */
function loads(entries: ReadonlyMap<string, Entry>): (machine: string) => number {
  const counts = new Map<string, number>()
  for (const { known, mover: moving } of entries.values()) {
    const machines = new Set([...(known?.machines ?? []), moving.tried()?.to.machine])
    for (const machine of machines) if (machine !== undefined) counts.set(machine, (counts.get(machine) ?? 0) + 1)
  }
  return (machine) => counts.get(machine) ?? 0
}

/** The next step for one address. Pure. */
function planAssigning(
  { services, id, entry, isLive }: Seen,
  decision: Decision,
): Plan<Step> & { problem?: string | undefined } {
  const { known, isLeaving } = entry
  if (id === undefined) return services.length > 0 ? { problem: withoutReservation } : {}
  if (!known) return entry.isOthers && services.length > 0 ? { problem: ofOthers } : {}
  const whenLive = (step: Step): Plan<Step> => ({ step: isLive ? step : { do: 'look' } })
  if (services.length === 0) return isLeaving && known.machines.length > 0 ? whenLive({ do: 'unassign', id }) : {}
  if (decision.do === 'move') return whenLive({ do: 'move', move: decision, from: known })
  return decision.do === 'wait' ? { againInMs: waitMs, problem: decision.problem } : {}
}

const withoutReservation =
  'the address is no reservation that eip-admission has, so it cannot be assigned to a machine: ' +
  'name it in an ElasticIP (spec.reservationID), or remove it from the Service'

const ofOthers =
  "its reservation is another cluster's by its marks, so it is not assigned to a machine here. " +
  'To get another address, delete the Service and create it again. ' +
  `To get this one, name its reservation in an ElasticIP with the annotation ${transferAnnotation}, ` +
  'and that ElasticIP in the new Service'

async function carryOut(
  { assignments, clock }: AssigningDeps,
  { step, entry }: { step: Exclude<Step, { do: 'look' }>; entry: Entry },
  signal: AbortSignal,
): Promise<undefined> {
  const mayWrite = () => !signal.aborted
  const { readAtMs } = entry
  // After anything but a clear answer, only the next look tells what came of it.
  entry.readAtMs = -Infinity
  entry.isChanging = true
  try {
    if (step.do === 'unassign') {
      await assignments.unassign(step.id, { signal, mayWrite })
      return
    }
    const result = await entry.mover.attempt(step.move, step.from, mayWrite)
    if (result === 'postponed') entry.readAtMs = readAtMs
    else if (result === 'done')
      keep(entry, { found: { ...step.from, machines: [step.move.to.machine] }, atMs: clock.now() })
  } finally {
    entry.isChanging = false
  }
}

/** Reports the problem of a plan if it is new. */
function reported(
  { report }: AssigningDeps,
  { address, services, entry }: Seen,
  { problem, ...plan }: ReturnType<typeof planAssigning>,
): Plan<Step> {
  if (problem !== undefined && problem !== entry.problem)
    for (const service of services) report({ subject: { service }, message: `address ${address}: ${problem}` })
  // While it moves nothing is better than it was.
  if (!plan.step) entry.problem = problem
  return plan
}
