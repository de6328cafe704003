import { randomBytes } from 'node:crypto'
import type { Reservation } from '../../clouds/ports/cloud.ts'
import type { HaltMemory, LedgerMap } from './ledger-map.ts'
import {
  type HeartbeatEntries,
  makeHeartbeat,
  planHeartbeat,
  type HeartbeatPlan,
  type HeartbeatSeen,
  heartbeatsOf,
  heartbeatsText,
  strangeHeartbeats,
  witnessOf,
} from './heartbeat-plan.ts'
import type { Witness } from './witness.ts'
import { type Known, type WriteHeartbeatDeps, maxHeartbeats, writeHeartbeat } from './write-heartbeat.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'

/**
 * Whether this cluster is the only one with its id, as far as the leader knows. `unchecked`: no sweep of this leader
 * has read the provider yet. `waiting`: another cluster may show itself soon. `foreign`: another cluster uses the id;
 * nothing may be released.
 */
export type ClusterState =
  { kind: 'unchecked' } | { kind: 'waiting' } | { kind: 'ours' } | { kind: 'foreign'; reason: string }

export type Heartbeats = {
  state(): ClusterState
  /** A new leader knows nothing yet. `silentMs`: how long there was no leader; undefined if unknown. */
  reset(silentMs: number | undefined): void
  /** Stores whether a new leader's releases will wait, before it reads the provider. */
  begin(signal: AbortSignal): Promise<void>
  /** How long releases must wait; undefined if they need not. */
  waitMs(): number | undefined
  /**
   * Compares the heartbeats in a list of reservations with ours, and writes the next one. Returns what the sweep may
   * do.
   */
  check(reservations: Reservation[], signal: AbortSignal): Promise<'all' | 'no-release' | 'nothing'>
}

type ForeignPlan = Extract<HeartbeatPlan, { kind: 'foreign' }>

export type HeartbeatsDeps = WriteHeartbeatDeps & ReleaseWaitDeps & { witness: Witness; halt: HaltMemory }

/** Detects another cluster that uses our id. */
export function clusterHeartbeats(deps: HeartbeatsDeps): Heartbeats {
  const watch = heartbeatWatch(deps)
  const wait = releaseWait(deps)
  const known = knownHeartbeats(deps)
  let state: ClusterState = { kind: 'unchecked' }
  return {
    state: () => state,
    reset(silentMs) {
      state = { kind: 'unchecked' }
      watch.reset()
      wait.reset(silentMs)
    },
    waitMs: () => wait.leftMs(),
    begin: async (signal) => wait.store(await known.read(signal), signal),
    async check(reservations, signal) {
      const { stored, entries } = await known.read(signal)
      const witness = await deps.witness.find(signal)
      const witnessed = await findWitnessed(deps, { reservations, entries }, signal)
      const plan = watch.decide(reservations, { entries, witnessed })
      if (plan.kind === 'foreign') {
        // Before the map is written, so that nothing is released while that fails.
        state = { kind: 'foreign', reason: noteHalt(deps, { plan, entries, stored }) }
        await reportHalt(deps, { plan, stored, reason: state.reason }, signal)
        return 'nothing'
      }
      if (plan.kind === 'observe') {
        wait.begin(entries, plan)
        state = { kind: wait.leftMs() === undefined ? 'ours' : 'waiting' }
        return 'no-release'
      }
      const heartbeat = makeHeartbeat(randomBytes(8).toString('hex'), { intervalMs: deps.intervalMs, witness })
      known.add(heartbeat)
      const shown = heartbeatsOf({ reservations, scheme: deps.scheme })
      await writeHeartbeat(deps, { plan, entries, stored, heartbeat, shown }, signal)
      watch.endObserving()
      wait.end()
      state = { kind: 'ours' }
      return 'all'
    },
  }
}

/** The longest gap between two successful looks. After a longer one, foreign heartbeats may have had no chance to change. */
const maxGapMs = (intervalMs: number) => Math.max(2 * intervalMs, 10_000)

/** Measures with our own clock how long this leader observes, and how long foreign heartbeats have not changed. */
function heartbeatWatch({ scheme, intervalMs, monotonicMs }: HeartbeatsDeps) {
  let sinceMs: number | undefined
  let isObserved = false
  let watched: { heartbeats: string; sinceMs: number; seenMs: number } | undefined
  return {
    reset() {
      sinceMs = undefined
      isObserved = false
      watched = undefined
    },
    endObserving: () => void (isObserved = true),
    decide(
      reservations: Reservation[],
      { entries, witnessed }: Pick<HeartbeatSeen, 'entries' | 'witnessed'>,
    ): HeartbeatPlan {
      const nowMs = monotonicMs()
      sinceMs ??= nowMs
      const observedMs = isObserved ? Infinity : nowMs - sinceMs
      // While we could not read from the provider, the other cluster perhaps could not write to it.
      if (watched && nowMs - watched.seenMs > maxGapMs(intervalMs)) watched.sinceMs = nowMs
      const last = watched && { heartbeats: watched.heartbeats, forMs: nowMs - watched.sinceMs }
      const plan = planHeartbeat({ reservations, scheme, entries, observedMs, watched: last, witnessed, intervalMs })
      // After a failed take-over, earlier observations of the other cluster prove nothing.
      const text = plan.kind === 'foreign' ? heartbeatsText(plan.heartbeats) : undefined
      if (text === undefined) watched = undefined
      else
        watched = { heartbeats: text, sinceMs: watched?.heartbeats === text ? watched.sinceMs : nowMs, seenMs: nowMs }
      return plan
    },
  }
}

/** The strange heartbeats that this cluster wrote itself before it was restored: their witness serves it. */
async function findWitnessed(
  { scheme, witness }: HeartbeatsDeps,
  seen: Pick<HeartbeatSeen, 'reservations' | 'entries'>,
  signal: AbortSignal,
): Promise<string[]> {
  // Another writer of heartbeats was seen: from now on only a person can decide.
  if (seen.entries.isAlive) return []
  const found: string[] = []
  for (const heartbeat of strangeHeartbeats({ ...seen, scheme })) {
    const machine = witnessOf(heartbeat)
    if (machine !== undefined && (await witness.serves(machine, signal))) found.push(heartbeat)
  }
  return found
}

/**
 * Reads the stored entries and adds the last heartbeats of this process: the map may have been deleted, or restored
 * from an older backup.
 */
function knownHeartbeats({ map, halt }: Pick<HeartbeatsDeps, 'map' | 'halt'>) {
  let written: string[] = []
  return {
    async read(signal: AbortSignal): Promise<Known> {
      const stored = await map.read(signal)
      const entries = halt.entries(stored)
      return { stored, entries: { ...entries, heartbeats: [...new Set([...entries.heartbeats, ...written])] } }
    },
    add: (heartbeat: string) => void (written = [...written.slice(-maxHeartbeats), heartbeat]),
  }
}

/** Remembers the halt in this process; returns the reason. */
function noteHalt({ halt }: HeartbeatsDeps, { plan, entries, stored }: Known & { plan: ForeignPlan }): string {
  halt.note({ heartbeat: entries.foreign ?? plan.heartbeats[0] ?? '', isAlive: plan.isAlive })
  return halt.reason(stored) ?? ''
}

/** Stores the halt for all replicas, and reports it. */
async function reportHalt(
  { map, scheme, log, event, halt }: HeartbeatsDeps,
  { plan, stored, reason }: Pick<Known, 'stored'> & { plan: ForeignPlan; reason: string },
  signal: AbortSignal,
): Promise<void> {
  log.error({ cluster: scheme.cluster, heartbeats: plan.heartbeats }, reason)
  const halted = await map.change(stored, halt.kept(), signal)
  event(halted, { type: 'Warning', reason: 'ClusterIdInUse', message: reason })
}

type ReleaseWaitDeps = Pick<LedgerDeps, 'scheme' | 'log'> & {
  map: LedgerMap
  /** The longest time between two leaders of one cluster. */
  successionMs: number
  monotonicMs: () => number
}

/** How long this leader releases nothing. */
function releaseWait({ map, scheme, successionMs, monotonicMs, log }: ReleaseWaitDeps) {
  // The silence also applies to the next term of this process, until a wait has ended.
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
    /** Stores that this leader waits: otherwise the next leader of a copy would take us for the original's leader. */
    async store({ entries, stored }: Known, signal: AbortSignal): Promise<void> {
      if (entries.heartbeats.length === 0 || isSuccession({ silentMs, successionMs })) return
      await map.change(stored, { cluster: scheme.cluster, waiting: 'true' }, signal)
    },
    begin({ hasWaited }: HeartbeatEntries, { heartbeatMs }: Extract<HeartbeatPlan, { kind: 'observe' }>): void {
      if (untilMs !== undefined) return
      const waitMs = releaseWaitMs({ silentMs, hasWaited, successionMs, heartbeatMs })
      if (waitMs > 0) log.info({ waitMs }, 'releases wait: this may be a copy of a cluster that is still running')
      untilMs = monotonicMs() + waitMs
    },
  }
}

/** The facts that distinguish a new leader of a cluster from the first leader of a copy. */
type Silence = {
  /**
   * How long there was no leader, by the clocks of two processes; undefined if unknown. 0 if this process has seen a
   * leader.
   */
  silentMs: number | undefined
  /** An earlier leader's wait was interrupted: the lease says nothing about the time before it. */
  hasWaited: boolean
  /** The longest time between two leaders of one cluster. */
  successionMs: number
  /** A live original writes its next heartbeat within this time. */
  heartbeatMs: number
}

/**
 * How long a new leader releases nothing, because it may lead a copy whose backup is younger than the original's last
 * heartbeat. Pure. It need not wait if the last leader's wait was over, and that leader led while this process ran or
 * until a moment ago. The processes of a copy start later, because a restore takes longer.
 *
 * A long silence does not shorten the wait: it may be the difference of two clocks.
 */
function releaseWaitMs({ hasWaited, heartbeatMs, ...silence }: Silence): number {
  return isSuccession(silence) && !hasWaited ? 0 : heartbeatMs
}

function isSuccession({ silentMs, successionMs }: Pick<Silence, 'silentMs' | 'successionMs'>): boolean {
  return silentMs !== undefined && Math.abs(silentMs) <= successionMs
}
