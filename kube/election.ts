import { repeat, repeatLater, withJitter } from '../lib/repeat.ts'
import { type ClockReading, readClocks, elapsedMs } from '../lib/time-limit.ts'
import { type Clock, systemClock } from './clock.ts'
import { isRace } from './errors.ts'
import { type LeaseOptions, type LeaseRecord, leaseRecord } from './lease.ts'
import type { Log } from './log.ts'

export type ElectionOptions = Pick<LeaseOptions, 'client' | 'lease' | 'identity' | 'annotations' | 'onSeen'> & {
  /**
   * The leader's work. Its signal aborts when the lease is lost and when the process stops. The lease is released, or
   * claimed again, only after this has returned. `silentMs`: how long the lease had not been renewed before we claimed
   * it; undefined if there was none.
   */
  lead(signal: AbortSignal, silentMs: number | undefined): Promise<void>
  /** How long a lease is valid without a renewal. */
  leaseDurationMs: number
  /** How long we lead without a renewal. */
  renewDeadlineMs: number
  /** The maximum validity of a lease, for a process that keeps losing it because it renews too late. */
  longestLeaseMs?: number
  /** How often the leader renews. */
  retryPeriodMs: number
  /** How often the other replicas check whether the lease is free. */
  lookPeriodMs?: number
  /** How long we leave a free lease to others; read before each claim. */
  hesitationMs?: (() => number) | undefined
  log: Log
  clock?: Clock
}

export type Election = {
  /** Whether we lead now. The clocks make this correct even after the process was frozen, before any timer ran. */
  isLeader(): boolean
  /** How long no other contender can claim the lease; 0 while we do not lead. */
  leaseLeftMs(): number
  /** The holder of the lease as last seen; empty if it had none, undefined before the first look. */
  holder(): string | undefined
  /**
   * Claims the lease repeatedly until the signal aborts and `lead` has returned. Rejects if `lead` rejects while we
   * hold the lease.
   */
  run(signal: AbortSignal): Promise<void>
}

type ElectionDeps = Pick<ElectionOptions, 'lease' | 'identity' | 'lead' | 'retryPeriodMs' | 'log'> &
  Required<Pick<ElectionOptions, 'lookPeriodMs' | 'clock'>> & {
    record: LeaseRecord
    pace: ReturnType<typeof leasePace>
  }

/**
 * A contender for a lease. At most one contender leads at any time. It is hand-written because client-node has neither
 * lease nor election.
 */
export function election(options: ElectionOptions): Election {
  const deps = checkedDeps(options)
  const { clock, record, lookPeriodMs, retryPeriodMs, pace, log, lease } = deps
  let heldLease: HeldLease | undefined
  // Without its API server, a contender fails several times a second.
  let isRepeated = false

  return {
    isLeader: () => heldLease?.isHeld() ?? false,
    leaseLeftMs: () => (heldLease ? leaseLeftMs(deps, heldLease) : 0),
    holder: () => record.holder(),
    async run(signal) {
      const claimAndLead = async () => {
        const sentAt = readClocks(clock)
        const isOurs = await attempt({ name: 'claim the lease', isRepeated }, deps, () => record.claim())
        isRepeated = isOurs === undefined
        if (isOurs) {
          heldLease = holdLease(sentAt, { clock, pace, onLoss: (reason) => log.warn({ lease, reason }, 'lease lost') })
          await leadWhileHeld(deps, heldLease, signal)
        }
        return withJitter(isOurs === false ? lookPeriodMs : retryPeriodMs)
      }
      await repeat(claimAndLead, { everyMs: retryPeriodMs, signal, clock })
    },
  }
}

/** Leads until `lead` returns: on its own, or because the lease is lost or the signal aborts. */
async function leadWhileHeld(deps: ElectionDeps, heldLease: HeldLease, signal: AbortSignal): Promise<void> {
  const { log, lease, identity, record } = deps
  const over = new AbortController()
  const upkeep = Promise.all([renew(deps, heldLease, over.signal), expire(deps, heldLease, over.signal)])
  const stop = () => heldLease.stop()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  log.info({ lease, identity }, 'leading')
  try {
    if (!heldLease.signal.aborted) await deps.lead(heldLease.signal, record.silentMs())
  } catch (error) {
    if (!heldLease.signal.aborted) throw error
  } finally {
    // Renewals end only here: the leader still needs the lease while its work stops.
    over.abort()
    await upkeep
    heldLease.close()
    signal.removeEventListener('abort', stop)
    await attempt({ name: 'release the lease' }, deps, () => record.release())
    log.info({ lease, identity }, 'no longer leading')
  }
}

/** We stop leading at the renew deadline, and no other contender leads until the lease ends. */
function leaseLeftMs({ pace }: ElectionDeps, heldLease: HeldLease): number {
  return heldLease.isHeld() ? heldLease.leftMs() + pace.leaseDurationMs - pace.renewDeadlineMs : 0
}

async function renew(deps: ElectionDeps, heldLease: HeldLease, over: AbortSignal): Promise<void> {
  const { clock, record, retryPeriodMs } = deps
  const renewOnce = async () => {
    if (!heldLease.isHeld()) return 'over'
    const sentAt = readClocks(clock)
    const isOurs = await attempt({ name: 'renew the lease' }, deps, () => record.claim())
    if (isOurs === false) heldLease.lose('another process holds it')
    if (isOurs) heldLease.renewed(sentAt)
    return isOurs === false ? 'over' : undefined
  }
  await repeatLater(renewOnce, { everyMs: retryPeriodMs, signal: over, clock })
}

/** Loses the lease at its deadline, even while a renewal call hangs. */
async function expire(deps: ElectionDeps, heldLease: HeldLease, over: AbortSignal): Promise<void> {
  const { clock, retryPeriodMs, pace } = deps
  // Sleeps are short: after a suspend, timers are late, but the date is right.
  while (heldLease.isHeld() && !over.aborted) await clock.sleep(Math.min(heldLease.leftMs(), retryPeriodMs), over)
  if (!over.aborted && heldLease.lose('it could not be renewed in time')) pace.renewedTooLate()
}

/** The result of a call, or undefined if it failed. Every caller in this file repeats its call later. */
async function attempt<T>(
  action: { name: string; isRepeated?: boolean },
  { log, lease }: ElectionDeps,
  call: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    const message = error instanceof Error ? error.message : 'no reason given'
    log[isRace(error) || action.isRepeated ? 'debug' : 'warn']({ lease, error: message }, `could not ${action.name}`)
    return undefined
  }
}

function checkedDeps(options: ElectionOptions): ElectionDeps {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs, lookPeriodMs = 500 } = options
  const { client, lease, identity, hesitationMs, clock = systemClock } = options
  if (identity === '') throw new Error(`lease ${lease.namespace}/${lease.name}: the identity is empty`)
  if (leaseDurationMs <= renewDeadlineMs || renewDeadlineMs <= retryPeriodMs * 1.2) {
    const values = `${leaseDurationMs}, ${renewDeadlineMs} and ${retryPeriodMs} ms`
    const rule = 'its duration must be longer than the renew deadline, and that longer than 1.2 retry periods'
    throw new Error(`lease ${lease.namespace}/${lease.name}: ${rule}; they are ${values}`)
  }
  const pace = leasePace(options, clock)
  const { annotations, onSeen } = options
  const record = leaseRecord({
    client,
    lease,
    identity,
    hesitationMs,
    annotations,
    onSeen,
    clock,
    get leaseDurationMs() {
      return pace.leaseDurationMs
    },
    get callTimeoutMs() {
      // After a call that hangs, there is time for a second one before the deadline.
      return pace.renewDeadlineMs / 2
    },
  })
  return { ...options, lookPeriodMs, clock, record, pace }
}

/** Terms that end this soon after each other suffer from a lack of CPU, not from an outage of the API server. */
const repeatedMs = 60_000
/** After this time without such an end, a lease is as long as usual again. */
const calmMs = 600_000

/**
 * How long a lease is valid. A process that lacks CPU renews it too late, and each new term begins with lists, so it
 * would get nothing done. So while terms keep ending this way, each lease is twice as long as the previous one. Other
 * contenders, including client-go's, respect the duration in the lease.
 */
function leasePace({ longestLeaseMs = 0, ...usual }: ElectionOptions, clock: Clock) {
  let factor = 1
  let lateAtMs = -Infinity
  const isCalm = () => clock.now() - lateAtMs > calmMs
  const stretched = (ms: number) => (isCalm() ? ms : factor * ms)
  return {
    get leaseDurationMs() {
      return stretched(usual.leaseDurationMs)
    },
    get renewDeadlineMs() {
      return stretched(usual.renewDeadlineMs)
    },
    /** Counts a term that ended because no renewal came in time. */
    renewedTooLate() {
      const most = Math.max(1, longestLeaseMs / usual.leaseDurationMs)
      if (isCalm()) factor = 1
      else if (clock.now() - lateAtMs <= repeatedMs) factor = Math.min(2 * factor, most)
      lateAtMs = clock.now()
    },
  }
}

type HeldLease = ReturnType<typeof holdLease>

/** A lease that we hold, claimed by a call that was sent at this time, until it is lost or released. */
function holdLease(
  sentAt: ClockReading,
  { clock, pace, onLoss }: Pick<ElectionDeps, 'clock' | 'pace'> & { onLoss: (reason: string) => void },
) {
  const stopping = new AbortController()
  let isOver = false
  let renewedAt = sentAt

  /** How long it stays ours without another renewal. */
  const leftMs = () => pace.renewDeadlineMs - elapsedMs(renewedAt, readClocks(clock))
  /** Whether the lease is certainly ours, by the current reading of both clocks. */
  const isHeld = () => !isOver && leftMs() > 0
  return {
    /** Aborts when the lease is lost, and when the leader has to stop. */
    signal: stopping.signal,
    isHeld,
    leftMs,
    /** Records a renewal, dated by when its call was sent. It has no effect if the lease has been lost meanwhile. */
    renewed(at: ClockReading) {
      if (isHeld()) renewedAt = at
    },
    /** Makes the leader stop while the lease is still ours. */
    stop: () => stopping.abort(),
    /** Records that the lease is no longer ours. Returns whether that is new. */
    lose(reason: string) {
      if (isOver) return false
      isOver = true
      onLoss(reason)
      stopping.abort()
      return true
    },
    /** Ends the lease after the leader has stopped, so that it can no longer be lost. */
    close: () => void (isOver = true),
  }
}
