import { repeatLater } from '../lib/repeat.ts'
import type { Clock } from './clock.ts'
import { isAlreadyExists, isConflict } from './errors.ts'
import { elapsedMs, readClocks } from '../lib/time-limit.ts'
import type { LeaseRecord } from './lease.ts'

/** How long a lease of this command counts without a renewal. */
export const leaseDurationMs = 15_000

/** A lease is renewed five times while it counts. */
const renewals = 5

/** After so much of it without a renewal we ask before we trust that the lease is still ours. */
const trusted = 0.6

/** A lease that this process renews until it releases it. */
export type KeptLease = {
  /** Claims the lease by the rules of every contender, and renews it from then on. Returns whether it is ours. */
  claim: () => Promise<boolean>
  isOurs: () => boolean
  /** Throws if the lease was ours and is another's now. */
  check: () => Promise<void>
  /** Releases the lease if it is ours. If that fails, it expires. */
  release: () => Promise<void>
  /** Ends the renewals, and leaves the lease to expire. */
  leave: () => Promise<void>
}

type KeptLeaseOptions = { clock: Clock; taken: () => Error; durationMs: number }

/** Keeps a lease. `taken` makes the error where another process took it. */
export function keptLease(record: LeaseRecord, { clock, taken, durationMs }: KeptLeaseOptions): KeptLease {
  const claims = claimsOf(record, clock)
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
      // Where the API server cannot be reached, the end of the run says so already.
      await claims.release().catch(() => undefined)
    },
  }
}

type Claims = ReturnType<typeof claimsOf>

async function renewAgain(claims: Claims): Promise<'over' | undefined> {
  // A call that fails is repeated: the lease is ours for several renewals more, and check asks again.
  if (claims.state() === 'ours') await claims.renew().catch(() => undefined)
  return claims.state() === 'ours' ? undefined : 'over'
}

/** The claims of one lease, one call at a time, as its record needs it. */
function claimsOf(record: LeaseRecord, clock: Clock) {
  let state: 'free' | 'ours' | 'taken' = 'free'
  let renewed = readClocks(clock)
  let underWay: Promise<void> | undefined
  const claim = async () => {
    // The lease counts from the moment in which the request was sent.
    const sent = readClocks(clock)
    // Where another run worked since, the cluster is not what we saw, even if that run has ended.
    const isOurs = await (state === 'ours' ? unlessFaster(() => record.renew()) : claimed(record))
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

/** Whether a claim succeeded; false also where another contender was faster. */
function claimed(record: LeaseRecord): Promise<boolean> {
  return unlessFaster(() => record.claim())
}

async function unlessFaster(write: () => Promise<boolean>): Promise<boolean> {
  try {
    return await write()
  } catch (error) {
    if (isConflict(error) || isAlreadyExists(error)) return false
    throw error
  }
}
