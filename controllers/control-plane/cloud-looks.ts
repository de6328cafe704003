import type { Clock } from '../../kube/clock.ts'
import { backoffMs } from '../../lib/repeat.ts'
import { errorText } from '../loop/reconcile-key.ts'
import type { KnownAddress } from './known-address.ts'
import { retryAfterOf } from '../moves/refusals.ts'

export type CloudLooks = {
  /** Reads the cloud if it is time. Returns why the last read failed, if it did. */
  look(signal: AbortSignal): Promise<string | undefined>
}

export type CloudLooksOptions = {
  known: KnownAddress
  /** How often the cloud is read while all is well. */
  readIntervalMs: number
  /** How many failures are left before the address leaves its holder; infinite while there is none. */
  failuresLeft: () => number
  sight: Sight
  clock: Clock
}

/**
 * When a single failure is missing for a move we look already, so that the move need not wait. Later, while it cannot move,
 * we look rarely.
 */
const lookBeforeMoveMs = { first: 1_000, later: 5_000 }
const retry = { firstMs: 500, maxMs: 10_000 }
/** A list that shows something wrong is repeated soon, then less and less often. */
const doubtful = { firstMs: 1_000, maxMs: 15_000 }

/** Looks at the cloud: a list at each interval, and only the address when its holder fails or we know nothing. */
export function cloudLooks({ known, readIntervalMs, failuresLeft, sight, clock }: CloudLooksOptions): CloudLooks {
  let listDueAtMs = -Infinity
  let doubts = 0
  let failures = 0
  let failure: string | undefined
  let notBeforeMs = -Infinity

  const isFailing = () => failuresLeft() <= 1
  const isListDue = () => clock.now() >= listDueAtMs
  const isDue = () => {
    // Without another read, one failure would look like an outage.
    if (failure !== undefined) return true
    const maxAgeMs = failuresLeft() === 1 ? lookBeforeMoveMs.first : lookBeforeMoveMs.later
    return known.ageMs() > (isFailing() ? maxAgeMs : readIntervalMs) || (isListDue() && !isFailing())
  }
  const read = async (signal: AbortSignal) => {
    if (!isListDue() || isFailing() || known.ageMs() === Infinity) return known.look(signal)
    await known.find(signal)
    doubts = known.problem() === undefined ? 0 : doubts + 1
    const inMs = doubts > 0 ? Math.min(backoffMs(doubts, doubtful), readIntervalMs) : readIntervalMs
    listDueAtMs = clock.now() + inMs
  }

  return {
    async look(signal) {
      if (!isDue() || clock.now() < notBeforeMs) return failure
      try {
        await sight.read(read, signal)
        failures = 0
        failure = undefined
      } catch (error) {
        if (signal.aborted) return failure
        failures += 1
        notBeforeMs = clock.now() + Math.max(backoffMs(failures, retry), retryAfterOf(error))
        failure = `the provider could not be read: ${errorText(error)}`
      }
      return failure
    },
  }
}

/** Whether this process can read the cloud. */
export type Sight = {
  /** Reads the cloud, and remembers whether it answered. */
  read<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>
  /** Whether reads have failed for so long that another guardian may see more. */
  isBlind(): boolean
}

/** Most outages of a cloud's API are shorter, and no other guardian would see more. */
const patienceMs = 10_000

/**
 * A guardian that does not lead reads nothing, so its last failure soon tells nothing. While the cloud is down for all,
 * each leads again sooner.
 */
const memoryMs = 60_000

/** The sight of a process that has not read the cloud yet. */
export function cloudSight(now: () => number): Sight {
  let failingSinceMs = -Infinity
  let lastFailedAtMs = -Infinity
  return {
    async read(work, signal) {
      const beganAtMs = now()
      try {
        const found = await work(signal)
        lastFailedAtMs = -Infinity
        return found
      } catch (error) {
        // A cloud that asks us to wait is there, and asks the others as well.
        if (retryAfterOf(error) > 0) lastFailedAtMs = -Infinity
        else if (!signal.aborted) {
          if (beganAtMs - lastFailedAtMs >= memoryMs) failingSinceMs = beganAtMs
          lastFailedAtMs = now()
        }
        throw error
      }
    },
    isBlind: () => now() - lastFailedAtMs < memoryMs && now() - failingSinceMs >= patienceMs,
  }
}
