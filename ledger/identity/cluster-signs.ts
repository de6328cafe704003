import { randomBytes } from 'node:crypto'
import type { Reservation } from '../../clouds/ports/cloud.ts'
import type { HaltMemory } from './halt.ts'
import {
  type SignEntries,
  makeSign,
  planSign,
  type SignPlan,
  type SignSeen,
  signsOf,
  signsText,
  strangeSigns,
  witnessOf,
} from './sign-plan.ts'
import type { Witness } from './witness.ts'
import { type Known, type WriteSignDeps, maxSigns, writeSign } from './write-sign.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import type { LedgerMap } from './ledger-map.ts'

/**
 * Whether this cluster is the only one with its id, as far as the leader knows. `unchecked`: no sweep of this leader has
 * read the cloud yet. `waiting`: another cluster may show itself soon. `foreign`: another cluster uses the id; nothing may be released.
 */
export type ClusterState =
  { kind: 'unchecked' } | { kind: 'waiting' } | { kind: 'ours' } | { kind: 'foreign'; reason: string }

export type ClusterSigns = {
  state(): ClusterState
  /** A new leader knows nothing yet. `silentMs`: how long nobody had led; undefined if nobody knows. */
  reset(silentMs: number | undefined): void
  /** Stores, before a new leader reads the cloud, whether its releases will wait. */
  begin(signal: AbortSignal): Promise<void>
  /** How long releases have to wait; undefined if they do not. */
  waitMs(): number | undefined
  /** Compares the signs in a list of reservations with ours, and writes the next one. Returns what the sweep may do. */
  check(reservations: Reservation[], signal: AbortSignal): Promise<'all' | 'no-release' | 'nothing'>
}

type ForeignPlan = Extract<SignPlan, { kind: 'foreign' }>

export type ClusterSignsDeps = WriteSignDeps & ReleaseWaitDeps & { witness: Witness; halt: HaltMemory }

/** Notices another cluster that uses our id. */
export function clusterSigns(deps: ClusterSignsDeps): ClusterSigns {
  const signs = signWatch(deps)
  const wait = releaseWait(deps)
  const known = knownSigns(deps)
  let state: ClusterState = { kind: 'unchecked' }
  return {
    state: () => state,
    reset(silentMs) {
      state = { kind: 'unchecked' }
      signs.reset()
      wait.reset(silentMs)
    },
    waitMs: () => wait.leftMs(),
    begin: async (signal) => wait.store(await known.read(signal), signal),
    async check(reservations, signal) {
      const { stored, entries } = await known.read(signal)
      const witness = await deps.witness.find(signal)
      const witnessed = await findWitnessed(deps, { reservations, entries }, signal)
      const plan = signs.decide(reservations, { entries, witnessed })
      if (plan.kind === 'foreign') {
        // Before the map is written: nothing is released either while that fails.
        state = { kind: 'foreign', reason: noteHalt(deps, { plan, entries, stored }) }
        await reportHalt(deps, { plan, stored, reason: state.reason }, signal)
        return 'nothing'
      }
      if (plan.kind === 'observe') {
        wait.begin(entries, plan)
        state = { kind: wait.leftMs() === undefined ? 'ours' : 'waiting' }
        return 'no-release'
      }
      const sign = makeSign(randomBytes(8).toString('hex'), { intervalMs: deps.intervalMs, witness })
      known.add(sign)
      const shown = signsOf({ reservations, scheme: deps.scheme })
      await writeSign(deps, { plan, entries, stored, sign, shown }, signal)
      signs.endObserving()
      wait.end()
      state = { kind: 'ours' }
      return 'all'
    },
  }
}

/** How long no look may have succeeded. After more, foreign signs may have had no chance to change. */
const maxGapMs = (intervalMs: number) => Math.max(2 * intervalMs, 10_000)

/** Measures by our own clock how long this leader observes, and how long foreign signs have not changed. */
function signWatch({ scheme, intervalMs, monotonicMs }: ClusterSignsDeps) {
  let sinceMs: number | undefined
  let isObserved = false
  let watched: { signs: string; sinceMs: number; seenMs: number } | undefined
  return {
    reset() {
      sinceMs = undefined
      isObserved = false
      watched = undefined
    },
    endObserving: () => void (isObserved = true),
    decide(reservations: Reservation[], { entries, witnessed }: Pick<SignSeen, 'entries' | 'witnessed'>): SignPlan {
      const nowMs = monotonicMs()
      sinceMs ??= nowMs
      const observedMs = isObserved ? Infinity : nowMs - sinceMs
      // While we could not read the cloud, the other cluster perhaps could not write.
      if (watched && nowMs - watched.seenMs > maxGapMs(intervalMs)) watched.sinceMs = nowMs
      const last = watched && { signs: watched.signs, forMs: nowMs - watched.sinceMs }
      const plan = planSign({ reservations, scheme, entries, observedMs, watched: last, witnessed, intervalMs })
      // Where a take-over fails, what was seen of the other cluster proves nothing any more.
      const text = plan.kind === 'foreign' ? signsText(plan.signs) : undefined
      if (text === undefined) watched = undefined
      else watched = { signs: text, sinceMs: watched?.signs === text ? watched.sinceMs : nowMs, seenMs: nowMs }
      return plan
    },
  }
}

/** The strange signs that this cluster wrote itself before it was put back: their witness serves it. */
async function findWitnessed(
  { scheme, witness }: ClusterSignsDeps,
  seen: Pick<SignSeen, 'reservations' | 'entries'>,
  signal: AbortSignal,
): Promise<string[]> {
  // Another writer of signs was seen: only a person can tell now.
  if (seen.entries.isAlive) return []
  const found: string[] = []
  for (const sign of strangeSigns({ ...seen, scheme })) {
    const machine = witnessOf(sign)
    if (machine !== undefined && (await witness.serves(machine, signal))) found.push(sign)
  }
  return found
}

/** Reads the stored entries, and adds the last signs of this process: the map may be deleted, or that of an older backup. */
function knownSigns({ map, halt }: Pick<ClusterSignsDeps, 'map' | 'halt'>) {
  let written: string[] = []
  return {
    async read(signal: AbortSignal): Promise<Known> {
      const stored = await map.read(signal)
      const entries = halt.entries(stored)
      return { stored, entries: { ...entries, signs: [...new Set([...entries.signs, ...written])] } }
    },
    add: (sign: string) => void (written = [...written.slice(-maxSigns), sign]),
  }
}

/** Keeps that we stop, in this process; returns the reason. */
function noteHalt({ halt }: ClusterSignsDeps, { plan, entries, stored }: Known & { plan: ForeignPlan }): string {
  halt.note({ sign: entries.foreign ?? plan.signs[0] ?? '', isAlive: plan.isAlive })
  return halt.reason(stored) ?? ''
}

/** Stores the halt for all replicas, and says so. */
async function reportHalt(
  { map, scheme, log, event, halt }: ClusterSignsDeps,
  { plan, stored, reason }: Pick<Known, 'stored'> & { plan: ForeignPlan; reason: string },
  signal: AbortSignal,
): Promise<void> {
  log.error({ cluster: scheme.cluster, signs: plan.signs }, reason)
  const halted = await map.change(stored, halt.kept(), signal)
  event(halted, { type: 'Warning', reason: 'ClusterIdInUse', message: reason })
}

type ReleaseWaitDeps = Pick<LedgerDeps, 'scheme' | 'log'> & {
  map: LedgerMap
  /** The longest time between two leaders of one cluster. */
  successionMs: number
  monotonicMs: () => number
}

/** For how long this leader releases nothing. */
function releaseWait({ map, scheme, successionMs, monotonicMs, log }: ReleaseWaitDeps) {
  // After a silence the next term of this process follows that silence too, until a wait has ended.
  let silentMs: number | undefined = 0
  let untilMs: number | undefined
  const leftMs = () => (untilMs === undefined || monotonicMs() >= untilMs ? undefined : untilMs - monotonicMs())
  return {
    leftMs,
    reset(silence: number | undefined) {
      if (isSuccession({ silentMs, successionMs })) silentMs = silence
      untilMs = undefined
    },
    end() {
      silentMs = 0
      untilMs = undefined
    },
    /** Stores that this leader waits: the next leader of a copy must not take us for the original's. */
    async store({ entries, stored }: Known, signal: AbortSignal): Promise<void> {
      if (entries.signs.length === 0 || isSuccession({ silentMs, successionMs })) return
      await map.change(stored, { cluster: scheme.cluster, waiting: 'true' }, signal)
    },
    begin({ hasWaited }: SignEntries, { signMs }: Extract<SignPlan, { kind: 'observe' }>): void {
      if (untilMs !== undefined) return
      const waitMs = releaseWaitMs({ silentMs, hasWaited, successionMs, signMs })
      if (waitMs > 0) log.info({ waitMs }, 'releases wait: this may be a copy of a cluster that lives')
      untilMs = monotonicMs() + waitMs
    },
  }
}

/** The facts that tell a new leader of a cluster from the first leader of a copy. */
type Silence = {
  /**
   * How long nobody had led, by the clocks of two processes; undefined if nobody knows. 0 where this process has seen a
   * leader.
   */
  silentMs: number | undefined
  /** An earlier leader began to wait, and did not come to an end: the lease says nothing about the time before it. */
  hasWaited: boolean
  /** The longest time between two leaders of one cluster. */
  successionMs: number
  /** In this time an original that lives has written its next sign. */
  signMs: number
}

/**
 * For how long a new leader releases nothing, because it may be that of a copy whose backup is younger than the original's
 * last sign. Pure. It does not wait where the last leader had not to, and led while this process ran or ended a moment ago.
 * A copy starts its processes later, and takes longer to restore.
 *
 * A long silence does not shorten the wait: it may be the difference of two clocks.
 */
function releaseWaitMs({ hasWaited, signMs, ...silence }: Silence): number {
  return isSuccession(silence) && !hasWaited ? 0 : signMs
}

function isSuccession({ silentMs, successionMs }: Pick<Silence, 'silentMs' | 'successionMs'>): boolean {
  return silentMs !== undefined && Math.abs(silentMs) <= successionMs
}
