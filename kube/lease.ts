import type { KubeClient } from './client.ts'
import type { Clock } from './clock.ts'
import { isConflict, resultUnless } from './errors.ts'
import type { Lease } from './objects.ts'
import { leases } from './resource.ts'

export type LeaseOptions = {
  client: Pick<KubeClient, 'get' | 'create' | 'replace'>
  lease: { namespace: string; name: string }
  /** The unique name of this contender. */
  identity: string
  /** Both are read at each call, because they grow if a process renews too late. */
  leaseDurationMs: number
  callTimeoutMs: number
  /** How long a claim leaves a free lease to others. */
  hesitationMs?: (() => number) | undefined
  /** Annotations that each of our writes sets on the lease; undefined removes one. */
  annotations?: (() => Record<string, string | undefined>) | undefined
  /** Called with the lease each time a claim reads or writes it. */
  onSeen?: ((lease: Lease) => void) | undefined
  /** How long the claim of a holder that is known to have ended stays valid; undefined if only its lease tells. */
  graceMs?: ((holder: string) => number | undefined) | undefined
  clock: Clock
}

/** The Lease object of an election. It does not support concurrent calls. */
export type LeaseRecord = {
  /** Claims the lease if it is free or has expired, renews it if it is ours. Returns whether it is ours now. */
  claim(): Promise<boolean>
  /** Renews the lease if it is still ours. False if another process held it since, although it may be free now. */
  renew(): Promise<boolean>
  /**
   * How long there was no leader before we claimed the lease, by its date; undefined if there was none. 0 if this
   * process has seen a leader since it started, itself included.
   */
  silentMs(): number | undefined
  /** The holder of the lease as last seen; empty if it had none, undefined before the first look. */
  holder(): string | undefined
  /** Releases the lease if it is ours, so that other contenders need not wait until it expires. */
  release(): Promise<void>
}

type Spec = NonNullable<Lease['spec']>

/**
 * The Lease object at the API server, by the rules of client-go's leader election. Another contender's lease expires by
 * our own clock, counted from the last change that we saw. We never compare the clocks of two machines.
 */
export function leaseRecord(options: LeaseOptions): LeaseRecord {
  const { client, lease, identity, clock } = options
  const call = () => ({ timeoutMs: options.callTimeoutMs })
  const leaders = watchLeaders(options)
  /** The lease as we last wrote it; undefined if the result of the last write is unknown. */
  let ours: Lease | undefined

  const writeClaim = async (stored: Lease) => {
    ours = undefined
    ours = await client.replace(leases, claimed(stored, options), call())
    options.onSeen?.(ours)
    return true
  }
  /** Writes over our last write; false if there is none, or another contender wrote since. */
  const writeAgain = async () => ours !== undefined && resultUnless(isConflict, writeClaim(ours), false)

  return {
    async claim() {
      if (await writeAgain()) return true
      const stored = await client.get(leases, lease, call())
      if (leaders.mayHold(stored)) return false
      leaders.beginClaim(stored)
      if (stored !== undefined) await writeClaim(stored)
      else ours = await client.create(leases, { ...newLease, metadata: lease, spec: claimedSpec({}, options) }, call())
      leaders.endClaim()
      return true
    },
    async renew() {
      if (await writeAgain()) return true
      const stored = await client.get(leases, lease, call())
      return stored?.spec?.holderIdentity === identity && writeClaim(stored)
    },
    silentMs: () => leaders.silentMs(),
    holder: () => leaders.holder(),
    async release() {
      ours = undefined
      const stored = await client.get(leases, lease, call())
      if (stored?.spec?.holderIdentity !== identity) return
      await client.replace(leases, { ...stored, spec: { ...stored.spec, ...released(clock) } }, call())
    },
  }
}

const newLease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' } as const

/** Remembers who led, and when the lease last changed. */
function watchLeaders(options: LeaseOptions) {
  const { identity, clock, hesitationMs = () => 0 } = options
  const { graceMs = () => undefined, onSeen = () => {} } = options
  let lastChange: { text: string; atMs: number } | undefined
  /** Whether this process has led, or another one has written the lease since our first look. */
  let wasLed = false
  let silentMs: number | undefined
  let holder: string | undefined

  return {
    /** Whether another contender's claim is still valid, or has precedence. */
    mayHold(lease: Lease | undefined): boolean {
      holder = lease?.spec?.holderIdentity ?? ''
      if (lease === undefined) return false
      onSeen(lease)
      const { spec = {} } = lease
      const { leaseDurationSeconds = options.leaseDurationMs / 1000 } = spec
      const text = JSON.stringify(spec)
      if (lastChange?.text !== text) {
        wasLed ||= lastChange !== undefined && holder !== identity
        lastChange = { text, atMs: clock.now() }
      }
      if (holder === identity) return false
      const validMs = holder === '' ? 0 : (graceMs(holder) ?? leaseDurationSeconds * 1000)
      const freeAtMs = lastChange.atMs + validMs
      return clock.now() < freeAtMs + hesitationMs()
    },
    beginClaim(stored: Lease | undefined) {
      if (wasLed) silentMs = 0
      // The lease names us if the answer to our claim was lost.
      else if (holder !== identity) silentMs = ageMs(stored, clock.date())
    },
    endClaim() {
      wasLed = true
      holder = identity
    },
    silentMs: () => silentMs,
    holder: () => holder,
  }
}

function ageMs(lease: Lease | undefined, now: Date): number | undefined {
  const renewedMs = Date.parse(lease?.spec?.renewTime ?? '')
  return Number.isNaN(renewedMs) ? undefined : now.getTime() - renewedMs
}

function claimed({ metadata, spec, ...stored }: Lease, options: LeaseOptions): Lease {
  const all = { ...metadata.annotations, ...options.annotations?.() }
  const annotations = Object.fromEntries(
    Object.entries(all).filter((one): one is [string, string] => one[1] !== undefined),
  )
  return { ...stored, metadata: { ...metadata, annotations }, spec: claimedSpec(spec, options) }
}

function released(clock: Clock): Spec {
  const now = microTime(clock.date())
  return { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now }
}

function claimedSpec(before: Spec = {}, { identity, leaseDurationMs, clock }: LeaseOptions): Spec {
  const now = microTime(clock.date())
  const { acquireTime = now, leaseTransitions } = before
  const renewed = {
    ...before,
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
    renewTime: now,
  }
  if (before.holderIdentity === identity) return { ...renewed, acquireTime }
  return { ...renewed, acquireTime: now, leaseTransitions: leaseTransitions === undefined ? 0 : leaseTransitions + 1 }
}

/** The API server requires exactly six fractional digits. */
function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z')
}

/**
 * The identities of our processes end with 12 hexadecimal digits, those of client-go, which predecessors use, with a
 * UUID.
 */
const ourIdentity = /_[0-9a-f]{12}$/

/** Whether a process of eip-admission has this identity. */
export function isOwnIdentity(identity: string): boolean {
  return ourIdentity.test(identity)
}

/** Whether a lease currently has a holder. Clocks may differ, so twice its duration is allowed. */
export function isHeld({ spec = {} }: Lease, now: Date): boolean {
  const { holderIdentity = '', renewTime = '', leaseDurationSeconds = 15 } = spec
  return holderIdentity !== '' && now.getTime() - Date.parse(renewTime) < 2_000 * leaseDurationSeconds + 60_000
}
