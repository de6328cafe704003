import { withJitter } from '../lib/backoff.ts'
import { type Clock, systemClock } from './clock.ts'
import { isAlreadyExists, isConflict } from './errors.ts'
import { type LeaseOptions, type LeaseRecord, leaseRecord } from './lease.ts'
import type { Log } from './log.ts'
import { type Moment, type HeldLease, holdLease, moment } from './held-lease.ts'

export type ElectionOptions = Pick<LeaseOptions, 'client' | 'lease' | 'identity'> & {
  /**
   * What the leader does. Its signal aborts when the lease is lost and when we are told to stop; the lease is given up,
   * or contended for again, only after it has returned.
   */
  lead(signal: AbortSignal): Promise<void>
  /** How long a lease lasts that is not renewed. */
  leaseDurationMs?: number
  /** After so long without a renewal we no longer lead. */
  renewDeadlineMs?: number
  /** How often the leader renews. */
  retryPeriodMs?: number
  /** How often the others look whether the lease is free. */
  lookPeriodMs?: number
  log: Log
  clock?: Clock
}

export type Election = {
  /** Whether we lead at this moment. True to the clock even after the process was frozen and before any timer ran. */
  isLeader(): boolean
  /**
   * Contends until the signal aborts and our term has ended. Ends earlier if `lead` does so by itself, and rejects if
   * `lead` rejects during its term.
   */
  run(signal: AbortSignal): Promise<void>
}

type Contest = Required<Omit<ElectionOptions, 'client'>> & { record: LeaseRecord }

/** A contender for the lease, one of several: never do two of them lead at once. */
export function election(options: ElectionOptions): Election {
  const contest = prepare(options)
  const { clock, record, lookPeriodMs, retryPeriodMs } = contest
  let heldLease: HeldLease | undefined

  return {
    isLeader: () => heldLease?.isHeld() ?? false,
    async run(signal) {
      while (!signal.aborted) {
        const sent = moment(clock)
        const claimed = await tryTo('claim the lease', contest, () => record.claim())
        if (claimed) {
          heldLease = leaseFrom(sent, contest)
          const isDone = await serve(contest, heldLease, signal)
          if (isDone) return
        } else {
          const periodMs = claimed === undefined ? retryPeriodMs : lookPeriodMs
          await clock.sleep(withJitter(periodMs), signal)
        }
      }
    },
  }
}

function leaseFrom(sent: Moment, { clock, renewDeadlineMs, log, lease }: Contest): HeldLease {
  return holdLease(sent, { clock, renewDeadlineMs, onLoss: (why) => log.warn({ lease, why }, 'lease lost') })
}

/** Leads for one term; true if `lead` ended by itself. */
async function serve(contest: Contest, heldLease: HeldLease, signal: AbortSignal): Promise<boolean> {
  const { log, lease, identity, record } = contest
  const over = new AbortController()
  const kept = Promise.all([renew(contest, heldLease, over.signal), expire(contest, heldLease, over.signal)])
  const stop = () => heldLease.stop()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  log.info({ lease, identity }, 'leading')
  try {
    if (!heldLease.signal.aborted) await contest.lead(heldLease.signal)
    return !heldLease.signal.aborted
  } catch (error) {
    if (!heldLease.signal.aborted) throw error
    return false
  } finally {
    // Renewed until here: what the leader does on its way out is done under the lease too.
    over.abort()
    await kept
    heldLease.close()
    signal.removeEventListener('abort', stop)
    await tryTo('release the lease', contest, () => record.release())
    log.info({ lease, identity }, 'no longer leading')
  }
}

async function renew(contest: Contest, heldLease: HeldLease, over: AbortSignal): Promise<void> {
  const { clock, record, retryPeriodMs } = contest
  for (;;) {
    await clock.sleep(retryPeriodMs, over)
    if (over.aborted || !heldLease.isHeld()) return
    const sent = moment(clock)
    const claimed = await tryTo('renew the lease', contest, () => record.claim())
    if (claimed === false) return heldLease.lose('another holds it')
    if (claimed) heldLease.renewed(sent)
  }
}

/** Ends the term in time even while a renewal hangs. */
async function expire({ clock, retryPeriodMs }: Contest, heldLease: HeldLease, over: AbortSignal): Promise<void> {
  // Never asleep for long: after a machine was suspended its timers know less than its date.
  while (heldLease.isHeld() && !over.aborted) await clock.sleep(Math.min(heldLease.leftMs(), retryPeriodMs), over)
  if (!over.aborted) heldLease.lose('it could not be renewed in time')
}

/** The result of a call, or undefined if it failed: everything here is tried again. */
async function tryTo<T>(what: string, { log, lease }: Contest, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    const words = error instanceof Error ? error.message : 'no reason given'
    const isRace = isConflict(error) || isAlreadyExists(error)
    log[isRace ? 'debug' : 'warn']({ lease, error: words }, `could not ${what}`)
    return undefined
  }
}

function prepare(options: ElectionOptions): Contest {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000, lookPeriodMs = 500 } = options
  const { client, lease, identity, clock = systemClock } = options
  if (identity === '') throw new Error(`lease ${lease.namespace}/${lease.name}: the identity is empty`)
  if (leaseDurationMs <= renewDeadlineMs || renewDeadlineMs <= retryPeriodMs * 1.2) {
    const given = `${leaseDurationMs}, ${renewDeadlineMs} and ${retryPeriodMs} ms`
    const rule = 'its duration must be longer than the renew deadline, and that longer than 1.2 retry periods'
    throw new Error(`lease ${lease.namespace}/${lease.name}: ${rule}; they are ${given}`)
  }
  // A call that hangs leaves time for another before the deadline.
  const callTimeoutMs = renewDeadlineMs / 2
  const record = leaseRecord({ client, lease, identity, leaseDurationMs, callTimeoutMs, clock })
  return { ...options, leaseDurationMs, renewDeadlineMs, retryPeriodMs, lookPeriodMs, clock, record }
}
