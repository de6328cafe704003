import type { KubeClient } from './client.ts'
import type { Clock } from './clock.ts'
import { isConflict } from './errors.ts'
import type { Lease } from './objects.ts'
import { leases } from './resource.ts'

export type LeaseOptions = {
  client: Pick<KubeClient, 'get' | 'create' | 'replace'>
  lease: { namespace: string; name: string }
  /** Who we are; no two contenders may share it. */
  identity: string
  leaseDurationMs: number
  callTimeoutMs: number
  clock: Clock
}

/** A Lease that we may hold; not safe for two calls at once. */
export type LeaseRecord = {
  /** Takes the lease if it is free or has run out, renews it if it is ours, and says whether it is ours now. */
  claim(): Promise<boolean>
  /** Gives the lease up if it is ours, so that another need not wait until it runs out. */
  release(): Promise<void>
}

type Spec = NonNullable<Lease['spec']>

/**
 * The Lease at the API server. Whether another's has run out is judged by our own clock since we last saw it change:
 * the clocks of two machines are never compared.
 */
export function leaseRecord(options: LeaseOptions): LeaseRecord {
  const { client, lease, identity, callTimeoutMs, clock } = options
  const call = { timeoutMs: callTimeoutMs }
  const isTaken = expiry(options)
  /** The lease as we wrote it last, unless the outcome of a write is unknown. */
  let ours: Lease | undefined

  const take = async (stored: Lease) => {
    ours = undefined
    ours = await client.replace(leases, { ...stored, spec: held(stored.spec, options) }, call)
  }

  return {
    async claim() {
      if (ours !== undefined && (await unlessConflict(take(ours)))) return true
      const stored = await client.get(leases, lease, call)
      if (stored !== undefined && isTaken(stored)) return false
      if (stored !== undefined) await take(stored)
      else ours = await client.create(leases, { ...newLease, metadata: lease, spec: held({}, options) }, call)
      return true
    },
    async release() {
      ours = undefined
      const stored = await client.get(leases, lease, call)
      if (stored?.spec?.holderIdentity !== identity) return
      const now = microTime(clock.date())
      const spec = { ...stored.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now }
      await client.replace(leases, { ...stored, spec }, call)
    },
  }
}

const newLease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' } as const

/** Remembers when each lease was last seen to change, and says whether another's still counts. */
function expiry({ identity, leaseDurationMs, clock }: LeaseOptions): (lease: Lease) => boolean {
  let seen: { text: string; atMs: number } | undefined

  return ({ spec = {} }) => {
    const text = JSON.stringify(spec)
    if (seen?.text !== text) seen = { text, atMs: clock.now() }
    const { holderIdentity = '', leaseDurationSeconds = leaseDurationMs / 1000 } = spec
    const isOthers = holderIdentity !== '' && holderIdentity !== identity
    return isOthers && clock.now() < seen.atMs + leaseDurationSeconds * 1000
  }
}

function held(before: Spec = {}, { identity, leaseDurationMs, clock }: LeaseOptions): Spec {
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

async function unlessConflict(write: Promise<void>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (isConflict(error)) return false
    throw error
  }
}

/** The API server reads these times with exactly six digits of a second. */
function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z')
}
