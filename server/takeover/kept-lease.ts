import type { Clock } from '../../kube/clock.ts'
import { isAlreadyExists, isConflict } from '../../kube/errors.ts'
import type { LeaseRecord } from '../../kube/lease.ts'

/** How long a lease of this command counts without a renewal. */
export const leaseDurationMs = 15_000

const renewMs = 3_000

/** After so long without a renewal we ask before we trust that the lease is still ours. */
const trustedMs = 9_000

/** A lease that this process renews until it releases it. */
export type KeptLease = {
  /** Claims the lease by the rules of every contender, and renews it from then on. Returns whether it is ours. */
  claim(): Promise<boolean>
  isOurs(): boolean
  /** Throws if the lease was ours and is another's by now. */
  check(): Promise<void>
  /** Releases the lease if it is ours. What cannot be released expires by itself. */
  release(): Promise<void>
}

/** Keeps a lease. `taken` makes the error where another process took it. */
export function keptLease(record: LeaseRecord, { clock, taken }: { clock: Clock; taken: () => Error }): KeptLease {
  const over = new AbortController()
  let state: 'free' | 'ours' | 'taken' = 'free'
  let renewed = stampOf(clock)
  let renewal: Promise<void> | undefined
  let loop: Promise<void> | undefined

  const renewOnce = async () => {
    // The lease counts from the moment in which the request was sent.
    const sent = stampOf(clock)
    if (await claimed(record)) renewed = sent
    else state = 'taken'
  }
  // A record takes one call at a time.
  const renew = () => (renewal ??= renewOnce().finally(() => (renewal = undefined)))
  const keepRenewing = async () => {
    while (state === 'ours') {
      await clock.sleep(renewMs, over.signal)
      if (over.signal.aborted) return
      // A call that fails is repeated: the lease is ours for several renewals more, and check asks again.
      await renew().catch(() => undefined)
    }
  }
  return {
    async claim() {
      const sent = stampOf(clock)
      if (state !== 'free' || !(await claimed(record))) return state === 'ours'
      state = 'ours'
      renewed = sent
      loop = keepRenewing()
      return true
    },
    isOurs: () => state === 'ours',
    async check() {
      if (state === 'ours' && ageMs(renewed, clock) > trustedMs) await renew()
      if (state === 'taken') throw taken()
    },
    async release() {
      over.abort()
      await loop
      if (state !== 'ours') return
      state = 'free'
      // Where the API server cannot be reached, the end of the run says so already.
      await record.release().catch(() => undefined)
    },
  }
}

/** Whether a claim succeeded; false also where another contender was faster. */
export async function claimed(record: LeaseRecord): Promise<boolean> {
  try {
    return await record.claim()
  } catch (error) {
    if (isConflict(error) || isAlreadyExists(error)) return false
    throw error
  }
}

type Stamp = { monotonicMs: number; dateMs: number }

function stampOf(clock: Clock): Stamp {
  return { monotonicMs: clock.now(), dateMs: clock.date().getTime() }
}

/** While a laptop sleeps only the date goes on; when somebody sets the date only the other clock is right. */
function ageMs({ monotonicMs, dateMs }: Stamp, clock: Clock): number {
  const now = stampOf(clock)
  return Math.max(now.monotonicMs - monotonicMs, now.dateMs - dateMs)
}
