import type { Problem } from '../../announcers/announcer.ts'
import type { AssignedAddress } from '../../clouds/ports/assignments.ts'
import type { Key } from '../../kube/objects.ts'
import { inTurn } from '../../lib/in-turn.ts'
import type { Announcement } from '../announcing/announcing.ts'
import { forwardedKeys } from '../loop/watch.ts'
import { type Outcome, runSteps } from '../loop/reconciler.ts'
import type { MovableNode } from '../moves/move-plan.ts'
import type { TriedMove } from '../moves/mover.ts'
import { type AssigningStep, type Halt, type SeenAddress, planAssigning } from './assigning-plan.ts'
import type { ChangeResult } from './cloud-view.ts'
import { type Claim, type Entry, type Memory, type MemoryDeps, loads, makeMemory, placeOf } from './memory.ts'
import type { ServiceNodeFacts } from './service-nodes.ts'
import type { Clock } from '../../kube/clock.ts'
import type { ElasticIP } from '../../ledger/record/elastic-ip.ts'
import { isSource } from '../../ledger/record/source.ts'
import { shortMemory } from '../../lib/short-memory.ts'

export type AssigningDeps = MemoryDeps & {
  /** The Services in the caches that show an address. */
  showing: (address: string) => Key[]
  /** Whether these Services serve only on nodes with endpoints, and have no endpoints. */
  lacksEndpoints: (address: string) => boolean
  /** How long a write to the provider may take, so that it ends while the lease is ours. A stopping process may finish. */
  writeMs: () => number
  /** Why nothing may be moved now, if so. */
  halt: () => Halt | undefined
  /** Whether the ledger has begun to delete the reservation of an address. */
  isReleasing: (address: string) => boolean
  tenancyOf: (address: string) => Tenancy
  /** The other addresses of the Services that show an address. */
  partnersOf: (address: string) => string[]
  /** The nodes that may have an address, the best one first. */
  nodes: (address: string, of: Pick<ServiceNodeFacts, 'holder' | 'load' | 'queue' | 'beside' | 'home'>) => MovableNode[]
  /** Receives a problem once, and again if it recurs. */
  report: (problem: Problem) => void
  /** Called when the provider shows an address on a node for the first time, or after a move. */
  onArrival: (arrival: Arrival) => void
}

/** An address that now routes to a node. `move` is absent if it was there before we looked. */
export type Arrival = { address: string; services: Key[]; move?: { from: string | undefined; to: string; why: string } }

export type Assigning = ReturnType<typeof assigning>

type Room = AssigningDeps & {
  memory: Memory
  /** An action of the provider locks its machine, so actions on one machine run one after another. */
  turns: ReturnType<typeof inTurn>
  pace: ReturnType<typeof unassignPace>
}

/** A write, or the result that an address is free, relies on an answer of the provider that is at most this old. */
const liveMs = 10_000
/** A Service is often created before its first pod runs. An address that could not serve yet may come a little later. */
const patienceMs = 30_000
const maxSteps = 12

/** Moves each address to a node that can serve it, and takes it from all nodes before it is released. */
export function assigning(deps: AssigningDeps) {
  const due = forwardedKeys()
  const room = { ...deps, memory: makeMemory(deps, due.add), turns: inTurn(), pace: unassignPace(deps.clock) }
  const { memory, clock, showing, reservationOf } = room
  return {
    name: 'assigning',
    /** Addresses to reconcile for reasons outside the cluster. */
    watch: due.watch,
    /** Whether the provider has shown the address on a machine. */
    isAssigned: (address: string) => (memory.entries.get(address)?.view.machines().length ?? 0) > 0,
    reconcile: (address: string, signal: AbortSignal) =>
      runSteps(
        {
          look: (aborted) => look(room, address, aborted),
          plan: planAssigning,
          carryOut: (step, _seen, aborted) => inItsTurn(room, { address, step }, aborted),
          settled: (seen) => Promise.resolve(settle(room, address, seen)),
          nameOf: ({ do: what, machine }) => `${what} ${machine}`,
          maxSteps,
        },
        signal,
      ),
    /**
     * Takes an address that no Service shows from its machine before its release. Undefined once no machine has it; else
     * who shows it, as in `Announcement`.
     */
    free: (address: string): Announcement | undefined => {
      const services = showing(address)
      if (services.length > 0) return { services }
      if (reservationOf(address) === undefined) return undefined
      const entry = memory.entryOf(address)
      const { view } = entry
      const isRecent = !view.isChanging() && clock.now() - view.answeredAtMs() <= liveMs
      // A person or program may assign a free address: a retained one belongs to the project, and is not ours to move.
      entry.isLeaving = !isRecent || view.machines().length > 0
      if (!entry.isLeaving) return undefined
      const waitMs = view.machines().length > 0 ? pacedMs(room, address) : 0
      if (waitMs > 0) return { services: [], waitMs }
      if (!isRecent) view.doubt()
      due.add(address)
      return { services: [] }
    },
    /** Forgets the previous term. */
    begin: () => memory.forget(),
    /** Reads every address of the project and its machines with one call, and enqueues those that changed. */
    readAll: (signal: AbortSignal) => memory.readAll(signal),
  }
}

async function look(room: Room, address: string, signal: AbortSignal): Promise<SeenAddress> {
  const { memory, showing, reservationOf, isReleasing, halt } = room
  const asked = reservationOf(address)
  if (asked !== undefined && !memory.entryOf(address).view.isKnown(asked)) await memory.look(address, asked, signal)
  // The cluster is read after the provider, which may take seconds: meanwhile a Service may have got the address.
  const [services, id] = [showing(address), reservationOf(address)]
  const entry = memory.claimedBy(address, services.join())
  if (services.length > 0) entry.isLeaving = false
  // A previous leader may have begun the release while yet another one moved the address.
  if (services.length === 0 && isReleasing(address)) entry.isLeaving = true
  const { view, isLeaving } = entry
  const seen = {
    services,
    id,
    assigned: view.assigned(),
    foreign: view.foreign(),
    isKnown: id !== undefined && view.isKnown(id),
    isLeaving,
    pacedMs: pacedMs(room, address),
    awaitsEndpointsMs: awaitedMs(room, address, entry),
    halt: halt(),
  }
  if (services.length === 0) return { ...seen, decision: undefined }
  arrive(room, entry, { address, services })
  const decision = decide(room, address, entry)
  // Other addresses choose their nodes meanwhile, so each choice must count at once.
  entry.claim.goal = decision.do === 'move' && seen.awaitsEndpointsMs === 0 ? decision.to.machine : undefined
  return { ...seen, decision }
}

/** How long an address that no Service shows stays on its machine. */
function pacedMs({ isReleasing, tenancyOf, pace }: Room, address: string): number {
  return isReleasing(address) ? 0 : pace.leftMs(tenancyOf(address))
}

function awaitedMs({ lacksEndpoints, clock }: Room, address: string, { claim }: Entry): number {
  if (claim.isArrived || claim.keeper.tried() !== undefined || !lacksEndpoints(address)) return 0
  return Math.max(0, claim.sinceMs + patienceMs - clock.now())
}

/** Reports that an address routes to a machine, once per arrival. */
function arrive(room: Room, { view, claim }: Entry, { address, services }: { address: string; services: Key[] }): void {
  const machines = view.machines()
  const moved = claim.keeper.saw(machines)
  if (machines.length !== 1) return
  if (moved) room.onArrival({ address, services, move: moveOf(room, address, moved) })
  else if (!claim.isArrived) room.onArrival({ address, services })
  claim.isArrived = true
}

function moveOf({ nodes }: Room, address: string, { from, to, why }: TriedMove): NonNullable<Arrival['move']> {
  const [before] = from.machines
  const all = nodes(address, { holder: before, load: () => 0, queue: () => 0, beside: new Set(), home: [] })
  const node = before === undefined ? undefined : all.find(({ machine }) => machine === before)
  return { from: node?.name ?? before, to: to.name, why }
}

function decide({ nodes, partnersOf, memory, turns }: Room, address: string, { view, claim }: Entry) {
  const { entries } = memory
  const assigned = view.machines()
  const [holder] = assigned
  const { home = [] } = view.assigned() ?? {}
  const beside = new Set(partnersOf(address).flatMap((partner) => placeOf(entries.get(partner)) ?? []))
  const all = nodes(address, { holder, load: loads(entries), queue: turns.count, beside, home })
  // An address that waits for its turn at a machine counts there. It leaves that queue only for a reason other than
  // these counts.
  const inOrder = all.toSorted((one, other) => Number(isGoal(claim, other)) - Number(isGoal(claim, one)))
  return claim.keeper.decide({ nodes: inOrder, assigned, address: undefined })
}

function isGoal({ goal }: Claim, { machine }: MovableNode): boolean {
  return goal !== undefined && machine === goal
}

type Target = { address: string; step: AssigningStep }

/** Executes a step after those before it at the same machine, if it is still the right one by then. */
function inItsTurn(room: Room, { address, step }: Target, signal: AbortSignal): Promise<undefined> {
  return room.turns.run(step.machine, async () => {
    // A stopping process begins nothing, but completes what it began: after half a move the address is at no machine.
    signal.throwIfAborted()
    const { view } = room.memory.entryOf(address)
    if (room.clock.now() - view.answeredAtMs() > liveMs) view.doubt()
    const seen = await look(room, address, signal)
    const { step: now } = planAssigning(seen)
    const { assigned: from } = seen
    if (now?.do !== step.do || now.machine !== step.machine || !from) return undefined
    await view.change(() => carryOut(room, { address, step: now, from }, signal))
    return undefined
  })
}

async function carryOut(
  { assignments, writeMs, memory, isReleasing, tenancyOf, pace }: Room,
  { address, step, from }: Target & { from: AssignedAddress },
  signal: AbortSignal,
): Promise<ChangeResult> {
  if (step.do === 'unassign') {
    // Counted before the write, because many addresses of a namespace may leave at the same time.
    const takeBack = isReleasing(address) ? undefined : pace.take(tenancyOf(address))
    try {
      await assignments.unassign(from, { signal, writeMs })
    } catch (error) {
      takeBack?.()
      throw error
    }
    return 'unclear'
  }
  const result = await memory.entryOf(address).claim.keeper.attempt(step.move, from, writeMs)
  if (result === 'postponed') return 'unchanged'
  return result === 'done' ? { machines: [step.machine] } : 'unclear'
}

/** Ends a run without a step, and reports a problem once. */
function settle({ memory, report }: Room, address: string, seen: SeenAddress): Outcome {
  const { step: _none, problem, ...outcome } = planAssigning(seen)
  if (memory.entryOf(address).claim.news.isNew(problem))
    for (const service of seen.services) report({ subject: { service }, message: `address ${address}: ${problem}` })
  return outcome
}

// The pace at which addresses that stay reserved are taken from their machines. A change of a Service's type costs
// several calls, but no order that a limit counts: a tenant could use up the provider's rate limit. An address that did
// not leave within the last hour leaves at once, and so do five more of a namespace. Any other waits one minute for
// each address taken before.

/** The owner of an address's reservation. `record`: the uid of the ElasticIP that stays while Services come and go. */
type Tenancy = { namespace: string | undefined; record: string | undefined }

/** The owner of an address's reservation, from all records. */
export function tenancyIn(records: readonly ElasticIP[], address: string): Tenancy {
  const all = records.filter(({ status }) => status?.address === address)
  const claimed = all.find((record) => !isSource(record))
  // A provisioned address gets a new record for each Service that claims it.
  return { namespace: claimed?.spec.claimRef?.namespace, record: (all.find(isSource) ?? claimed)?.metadata.uid }
}

const hourMs = 3_600_000
const intervalMs = 60_000
const burst = 5

/** Starts without a history. */
function unassignPace(clock: Pick<Clock, 'now'>) {
  const memory = { keptMs: hourMs, monotonicMs: () => clock.now() }
  const taken = shortMemory<string | undefined, true>(memory)
  /** When each namespace's next address would be due at one per minute. */
  const dueAtMs = shortMemory<string | undefined, number>(memory)
  return {
    /** How long an address must wait before it may leave its machine. */
    leftMs({ namespace, record }: Tenancy) {
      const due = taken.has(record) ? (dueAtMs.get(namespace) ?? -Infinity) : -Infinity
      return Math.max(0, due - (burst - 1) * intervalMs - clock.now())
    },
    /** Counts an address that leaves its machine now. Returns an undo, for an address that did not leave. */
    take({ namespace, record }: Tenancy): () => void {
      if (!taken.has(record)) {
        taken.set(record, true)
        return () => taken.delete(record)
      }
      const due = dueAtMs.get(namespace) ?? -Infinity
      dueAtMs.set(namespace, Math.max(due, clock.now()) + intervalMs)
      return () => dueAtMs.set(namespace, (dueAtMs.get(namespace) ?? -Infinity) - intervalMs)
    },
  }
}
