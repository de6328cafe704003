import type { Clock } from '../../kube/clock.ts'
import { backoffMs } from '../../lib/repeat.ts'
import { errorText } from '../loop/reconcile-key.ts'
import type { KnownAddress } from './known-address.ts'
import { retryAfterOf } from '../moves/refusals.ts'

type CloudLooksOptions = {
  known: KnownAddress
  /** How often the provider is read while all is well. */
  readIntervalMs: number
  /** How many failures are left before the address leaves its holder; infinite while there is none. */
  failuresLeft: () => number
  sight: Sight
  clock: Clock
}

/**
 * We look when one more failure would cause a move, so that the move need not wait. While the address should move but
 * cannot, we look less often.
 */
const lookBeforeMoveMs = { first: 1_000, later: 5_000 }
/** The back-off after reads from the provider that failed. */
export const lookRetry = { firstMs: 500, maxMs: 10_000 }
/** The maximum age of a look at the provider on which a change relies. */
export const liveMs = 2_000
/** A list that shows a problem is repeated soon, then with back-off. */
const doubtful = { firstMs: 1_000, maxMs: 15_000 }

/** Looks at the provider: a list at each interval, and only the address when its holder fails or we know nothing. */
export function cloudLooks({ known, readIntervalMs, failuresLeft, sight, clock }: CloudLooksOptions) {
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
    /** Reads from the provider if it is due. Returns why the last read failed, if it did. */
    async look(signal: AbortSignal) {
      if (!isDue() || clock.now() < notBeforeMs) return failure
      try {
        await sight.read(read, signal)
        failures = 0
        failure = undefined
      } catch (error) {
        if (signal.aborted) return failure
        failures += 1
        notBeforeMs = clock.now() + Math.max(backoffMs(failures, lookRetry), retryAfterOf(error))
        failure = `the provider could not be read: ${errorText(error)}`
      }
      return failure
    },
  }
}

export type Sight = ReturnType<typeof cloudSight>

/** Most outages of a provider's API are shorter, and would affect every guardian. */
const patienceMs = 10_000

/**
 * How long a failure is remembered. A guardian that does not lead reads nothing, so its last failure soon means little.
 * While the provider is down for all guardians, each leads again before that.
 */
const memoryMs = 60_000

/** Whether this process can read from the provider, which it has not tried at first. */
export function cloudSight(now: () => number) {
  let failingSinceMs = -Infinity
  let lastFailedAtMs = -Infinity
  return {
    /** Reads from the provider, and remembers whether it answered. */
    async read<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
      const beganAtMs = now()
      try {
        const found = await work(signal)
        lastFailedAtMs = -Infinity
        return found
      } catch (error) {
        // A provider that asks us to wait is reachable, and asks the others to wait too.
        if (retryAfterOf(error) > 0) lastFailedAtMs = -Infinity
        else if (!signal.aborted) {
          if (beganAtMs - lastFailedAtMs >= memoryMs) failingSinceMs = beganAtMs
          lastFailedAtMs = now()
        }
        throw error
      }
    },
    /** Whether reads have failed for so long that another guardian may have more success. */
    isBlind: () => now() - lastFailedAtMs < memoryMs && now() - failingSinceMs >= patienceMs,
  }
}
