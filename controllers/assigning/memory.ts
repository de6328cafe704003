// The knowledge about the addresses, from lists and looks at the provider and from our own changes.
import type { AssignedAddress, Assignments } from '../../clouds/ports/assignments.ts'
import type { Clock } from '../../kube/clock.ts'
import type { Log } from '../../kube/log.ts'
import { lastingMarks } from '../../ledger/record/marks.ts'
import { sharedRead } from '../../lib/shared-read.ts'
import { type Keeper, keeper } from '../moves/keeper.ts'
import { type Refusals, sharedRefusals } from '../moves/refusals.ts'
import { type ProblemNews, problemNews } from '../moves/problem-news.ts'
import { type Answer, type CloudView, cloudView } from './cloud-view.ts'
import { nodeRules } from './node-probes.ts'
import { serviceWords } from './service-nodes.ts'

export type MemoryDeps = {
  assignments: Assignments
  /** The reservation of an address in the ledger. */
  reservationOf: (address: string) => string | undefined
  /** Why the provider's reservation under the id of an address is not the ledger's; undefined if it is. */
  foreignReason: (address: string, found: AssignedAddress) => string | undefined
  clock: Clock
  log: Log
}

/** The state of one address: the provider's last answer, and the history of its current claim. */
export type Entry = {
  view: CloudView
  /** Whether the service controller waits until no machine has it. */
  isLeaving: boolean
  claim: Claim
}

/** The history of an address since its current Services have it. A new claim inherits nothing from the previous one. */
export type Claim = {
  /** The Services, as a single text. */
  of: string
  sinceMs: number
  keeper: Keeper
  news: ProblemNews
  /** Whether its Services were told that it routes to a machine. */
  isArrived: boolean
  /** The machine that it is about to get. */
  goal: string | undefined
}

export type Memory = ReturnType<typeof makeMemory>

const cooldownMs = 60_000
/** This many reads by id cost hardly more than a list, whose pages must be read one after another. */
const few = 5

/** Makes an empty memory. `changed` receives each address whose machines differ from before. */
export function makeMemory(given: MemoryDeps, changed: (address: string) => void) {
  const deps = { ...given, newRefusals: sharedRefusals(given.clock) }
  const { assignments, clock } = deps
  const entries = new Map<string, Entry>()
  const entryOf = (address: string) => {
    const entry = entries.get(address) ?? newEntry(deps)
    entries.set(address, entry)
    return entry
  }
  const abandonedError = (cause: unknown) => new Error('nothing waits for the list of addresses', { cause })
  const read = (signal: AbortSignal) => readList(deps, { entries, entryOf, changed }, signal)
  // A single list serves all addresses that are about to move.
  const list = sharedRead({ read, recentMs: 0, abandonedError })
  const readOne = async (address: string, id: string, signal: AbortSignal) => {
    const askedAtMs = clock.now()
    const found = await assignments.assignedAddress(id, signal)
    entryOf(address).view.answered(found && answerOf(deps, address, found), { id, askedAtMs })
  }
  const moving = () => [...entries.values()].filter(({ claim }) => claim.goal !== undefined).length
  return {
    entries,
    entryOf,
    /** The address with a claim of these Services, which is new unless it is theirs already. */
    claimedBy(address: string, services: string) {
      const entry = entryOf(address)
      if (services !== '' && entry.claim.of !== services) entry.claim = newClaim(deps, services)
      return entry
    },
    /** Forgets everything: while another process led, addresses moved, and their Services came and went. */
    forget() {
      entries.clear()
      deps.newRefusals = sharedRefusals(given.clock)
    },
    /** Reads every address of the project and its machines with one call. */
    readAll: (signal: AbortSignal) => list.fresh(signal),
    /** Looks at one address live: by id, or with a list if that costs fewer calls because many addresses wait. */
    async look(address: string, id: string, signal: AbortSignal) {
      const { view } = entryOf(address)
      const before = view.answeredAtMs()
      if (view.isOf(id) && moving() > few) await list.fresh(signal)
      // A list may lag: only a read by id proves that an address is deleted.
      if (view.answeredAtMs() <= before) await readOne(address, id, signal)
    },
  }
}

type Listing = {
  entries: Map<string, Entry>
  entryOf: (address: string) => Entry
  changed: (address: string) => void
}

async function readList(deps: MemoryDeps, { entries, entryOf, changed }: Listing, signal: AbortSignal): Promise<void> {
  const { assignments, reservationOf, clock } = deps
  const askedAtMs = clock.now()
  const listed = new Set<string>()
  for (const found of await assignments.assignedAddresses(undefined, signal)) {
    const { address } = found
    if (reservationOf(address) !== found.id) continue
    listed.add(address)
    if (entryOf(address).view.answered(answerOf(deps, address, found), { id: found.id, askedAtMs })) changed(address)
  }
  for (const [address, { view }] of entries) {
    if (reservationOf(address) === undefined) entries.delete(address)
    else if (!listed.has(address)) view.missed({ askedAtMs })
  }
}

/** A sweep may change the heartbeat at any time, so writes do not compare it. */
function answerOf({ foreignReason }: MemoryDeps, address: string, found: AssignedAddress): Answer {
  return { ...found, marks: lastingMarks(found.marks), foreign: foreignReason(address, found) }
}

type ClaimDeps = MemoryDeps & { newRefusals: () => Refusals }

function newEntry(deps: ClaimDeps): Entry {
  return { view: cloudView(deps.clock), isLeaving: false, claim: newClaim(deps, '') }
}

function newClaim({ assignments, clock, log, newRefusals }: ClaimDeps, of: string): Claim {
  return {
    of,
    sinceMs: clock.now(),
    keeper: keeper({
      rules: nodeRules,
      words: serviceWords,
      what: 'an address',
      assign: (target, options) => assignments.move(target, options),
      cooldownMs,
      clock,
      log,
      refused: newRefusals(),
    }),
    news: problemNews(),
    isArrived: false,
    goal: undefined,
  }
}

/** The machine that an address has, or is about to get. */
export function placeOf(entry: Entry | undefined): string | undefined {
  return entry?.claim.goal ?? entry?.claim.keeper.tried()?.to.machine ?? entry?.view.machines()[0]
}

/** How many addresses each machine has, or is about to get. */
export function loads(entries: ReadonlyMap<string, Entry>): (machine: string) => number {
  const counts = new Map<string, number>()
  for (const { view, claim } of entries.values()) {
    const machines = new Set([...view.machines(), claim.keeper.tried()?.to.machine, claim.goal])
    for (const machine of machines) if (machine !== undefined) counts.set(machine, (counts.get(machine) ?? 0) + 1)
  }
  return (machine) => counts.get(machine) ?? 0
}
