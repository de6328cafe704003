import { repeatLater } from '../lib/repeat.ts'
import type { Clock } from './clock.ts'
import { isRace, resultUnless } from './errors.ts'
import { elapsedMs, readClocks } from '../lib/time-limit.ts'
import { type LeaseOptions, type LeaseRecord, leaseRecord } from './lease.ts'

/** How long a lease of this command is valid without a renewal. */
export const leaseDurationMs = 15_000

/** A lease is renewed five times within its validity. */
const renewals = 5

/** After this share of the validity without a renewal, we check before we trust that the lease is still ours. */
const trusted = 0.6

/** A lease that this process renews until it releases it. */
export type KeptLease = {
  /** Claims the lease by the rules of every contender, and renews it from then on. Returns whether it is ours. */
  claim: () => Promise<boolean>
  isOurs: () => boolean
  /** Throws if the lease was ours and now belongs to another process. */
  check: () => Promise<void>
  /** Releases the lease if it is ours. If that fails, it expires. */
  release: () => Promise<void>
  /** Stops the renewals, and lets the lease expire. */
  leave: () => Promise<void>
}

type KeptLeaseOptions = Omit<LeaseOptions, 'callTimeoutMs'> & {
  /** Makes the error when another process has taken the lease. */
  taken: () => Error
}

const callTimeoutMs = 5_000

/** Keeps a lease. A longer one is renewed as often as one of the usual duration. */
export function keptLease({ taken, ...options }: KeptLeaseOptions): KeptLease {
  const { clock } = options
  const durationMs = Math.min(options.leaseDurationMs, leaseDurationMs)
  const claims = claimsOf(leaseRecord({ ...options, callTimeoutMs }), clock)
  const over = new AbortController()
  let loop: Promise<void> | undefined
  const leave = async () => {
    over.abort()
    await loop
  }
  return {
    async claim() {
      if (claims.state() !== 'free') return claims.state() === 'ours'
      await claims.renew()
      const pace = { everyMs: durationMs / renewals, signal: over.signal, clock }
      if (claims.state() === 'ours') loop = repeatLater(() => renewAgain(claims), pace)
      return claims.state() === 'ours'
    },
    isOurs: () => claims.state() === 'ours',
    async check() {
      if (claims.state() === 'ours' && claims.ageMs() > trusted * durationMs) await claims.renew()
      if (claims.state() === 'taken') throw taken()
    },
    leave,
    async release() {
      await leave()
      // If the API server is unreachable, the end of the run already reports it.
      await claims.release().catch(() => undefined)
    },
  }
}

type Claims = ReturnType<typeof claimsOf>

async function renewAgain(claims: Claims): Promise<'over' | undefined> {
  // A failed call is repeated: the lease stays ours for several more renewals, and `check` asks again.
  if (claims.state() === 'ours') await claims.renew().catch(() => undefined)
  return claims.state() === 'ours' ? undefined : 'over'
}

/** The claims of one lease. They run one at a time, as its record requires. */
function claimsOf(record: LeaseRecord, clock: Clock) {
  let state: 'free' | 'ours' | 'taken' = 'free'
  let renewed = readClocks(clock)
  let underWay: Promise<void> | undefined
  const claim = async () => {
    // The lease is valid from the moment the request was sent.
    const sent = readClocks(clock)
    // If another run has worked in between, the cluster is not as we saw it, even if that run has ended.
    const isOurs = await resultUnless(isRace, state === 'ours' ? record.renew() : record.claim(), false)
    if (isOurs) [state, renewed] = ['ours', sent]
    else if (state === 'ours') state = 'taken'
  }
  return {
    state: () => state,
    ageMs: () => elapsedMs(renewed, readClocks(clock)),
    renew: () => (underWay ??= claim().finally(() => (underWay = undefined))),
    async release() {
      if (state !== 'ours') return
      state = 'free'
      await record.release()
    },
  }
}
