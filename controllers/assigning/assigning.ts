// One address leads to one machine, and the cloud decides to which. The first row that applies decides.
//
//   the address                | and                                       | step
//   ---------------------------+-------------------------------------------+----------------------------
//   has no reservation of ours | a Service shows it                        | -, says why it leads nowhere
//   is gone at the cloud       |                                           | -, the sweep tells
//   is another cluster's now   | a Service shows it                        | -, says so
//   is to be moved or freed    | another cluster uses our id, or the leader | -, waits
//                              | has not looked for one yet                |
//   no Service shows it        | it is to be freed, and a machine has it   | look, then unassign
//                              | (a release waits for it, or has begun)    |
//   no Service shows it        |                                           | -
//   a Service shows it         | as move-plan.ts decides                   | look, then move; or wait
import type { Problem } from '../../announcers/announcer.ts'
import type { Key } from '../../kube/objects.ts'
import { transferAnnotation } from '../../ledger/record/names.ts'
import type { Announcement } from '../announcing/announcing.ts'
import { forwardedKeys, type Watch } from '../loop/watch.ts'
import { type Reconciler, type Plan, runSteps } from '../loop/reconciler.ts'
import { type Decision, type MovableNode, planMove } from '../moves/move-plan.ts'
import type { MovableAddress, Move } from '../moves/mover.ts'
import { type Entry, type Memory, type MemoryDeps, keep, loads, makeMemory, placeOf, see } from './memory.ts'
import { nodeRules } from './node-probes.ts'
import { type ServiceNodeFacts, serviceWords } from './service-nodes.ts'

export type AssigningDeps = MemoryDeps & {
  /** The Services that show an address, by the caches. */
  showing: (address: string) => Key[]
  /** Whether this process leads. One that stops does so until its work has ended. */
  isLeader: () => boolean
  /** Why nothing may be moved now, if something forbids it. */
  halt: () => Halt | undefined
  /** Whether the ledger has begun to delete the reservation of an address. */
  isReleasing: (address: string) => boolean
  /** The other addresses of the Services that show an address. */
  partnersOf: (address: string) => string[]
  /** The nodes that may have an address, the best one first. */
  nodes: (address: string, of: Pick<ServiceNodeFacts, 'holder' | 'load' | 'beside'>) => MovableNode[]
  /** Receives a problem once, and again if it was gone in between. */
  report: (problem: Problem) => void
  /** Called when the cloud shows an address on a node: for the first time, or after a move. */
  onArrival: (arrival: Arrival) => void
}

/** Nothing is moved or freed. `problem` is absent while that lasts for a moment only. */
export type Halt = { problem?: string }

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

type Seen = {
  address: string
  services: Key[]
  id: string | undefined
  entry: Entry
  isLive: boolean
  halt: Halt | undefined
}

/** A step relies on a look at the cloud that is not older. */
const liveMs = 2_000
/** How old a look may be by which an address counts as free. */
const freeMs = 10_000
const waitMs = 1_000
/** Another cluster that uses our id stays for hours, until a person comes. */
const haltedMs = 10_000
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
      if (isRecent && (entry.known?.machines.length ?? 0) === 0) {
        // It is free. Whoever assigns it from now on may: a retained address is the project's, and not ours to move.
        entry.isLeaving = false
        return undefined
      }
      entry.isLeaving = true
      if (!isRecent) entry.readAtMs = -Infinity
      due.add(address)
      return { services: [] }
    },
    readAll: memory.readAll,
  }
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
  return { address, services, id, entry, isLive: clock.now() - entry.readAtMs <= liveMs, halt: deps.halt() }
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

/** The next step for one address. Pure. */
function planAssigning(
  { services, id, entry, isLive, halt }: Seen,
  decision: Decision,
): Plan<Step> & { problem?: string | undefined } {
  const { known, isLeaving } = entry
  if (id === undefined) return services.length > 0 ? { problem: withoutReservation } : {}
  if (!known) return entry.isOthers && services.length > 0 ? { problem: ofOthers } : {}
  // What may not be written needs no look either.
  const whenLive = (step: Step) =>
    halt
      ? { againInMs: halt.problem === undefined ? waitMs : haltedMs, ...halt }
      : { step: isLive ? step : { do: 'look' as const } }
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
  { assignments, clock, isLeader }: AssigningDeps,
  { step, entry }: { step: Exclude<Step, { do: 'look' }>; entry: Entry },
  signal: AbortSignal,
): Promise<undefined> {
  // One that stops begins nothing, and ends what it began: after half a move the address is at no machine.
  signal.throwIfAborted()
  const { readAtMs } = entry
  // After anything but a clear answer, only the next look tells what came of it.
  entry.readAtMs = -Infinity
  entry.isChanging = true
  try {
    if (step.do === 'unassign') {
      await assignments.unassign(step.id, { signal, mayWrite: isLeader })
      return
    }
    const result = await entry.mover.attempt(step.move, step.from, isLeader)
    if (result === 'postponed') entry.readAtMs = readAtMs
    else if (result === 'done')
      keep(entry, { found: { ...step.from, machines: [step.move.to.machine] }, atMs: clock.now() })
  } finally {
    entry.isChanging = false
    entry.changedAtMs = clock.now()
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
