import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { KubeClient } from '../../kube/client.ts'
import type { Clock } from '../../kube/clock.ts'
import { claimed, keptLease, leaseDurationMs } from '../../kube/kept-lease.ts'
import { isOwnIdentity } from '../../kube/lease-holder.ts'
import { type LeaseRecord, leaseRecord } from '../../kube/lease.ts'
import type { Lease } from '../../kube/objects.ts'
import { leases } from '../../kube/resource.ts'
import type { ObjectRef } from './plan/plan.ts'
import type { Missing, TakeoverStep } from './steps.ts'

const infix = '_takeover_'

/** Whether a run of this command has this identity, perhaps one that was killed. */
export function isOfTakeover(identity: string): boolean {
  return identity.includes(infix)
}

/** The lease as this command claims it. Its identity is none of a `serve`, so nobody takes it for a leader of ours. */
function claimedLease(client: KubeClient, lease: ObjectRef, clock: Clock): LeaseRecord {
  const identity = `${hostname()}${infix}${randomUUID()}`
  return leaseRecord({ client, lease, identity, leaseDurationMs, callTimeoutMs: 5_000, clock })
}

/** Whether a lease keeps our program waiting although its holder may be dead. */
function isInTheWay(lease: Lease | undefined): boolean {
  const holder = lease?.spec?.holderIdentity ?? ''
  return holder !== '' && !isOwnIdentity(holder)
}

/**
 * Frees the lease of a predecessor that ended without releasing it. We claim it by the rules of every contender, so only
 * when it was not renewed for its whole length, and release it at once.
 */
export function freeLeaseStep(client: KubeClient, lease: ObjectRef, clock: Clock): TakeoverStep {
  const record = claimedLease(client, lease, clock)
  const place = placeOf(lease)
  return {
    name: 'free-lease',
    title: `Free the ${place}`,
    async missing() {
      const stored = await client.get(leases, lease)
      if (!isInTheWay(stored)) return undefined
      return { text: `waiting until the ${place} of ${stored?.spec?.holderIdentity} has expired` }
    },
    async act() {
      if (await claimed(record)) await record.release()
    },
  }
}

export type LeaseHold = {
  /** Claims the lease as soon as it is free, and keeps it until `release`. */
  step: TakeoverStep
  /** Throws if the lease is another's by now: then somebody else acts. */
  check: () => Promise<void>
  release: () => Promise<void>
}

type Deps = {
  client: KubeClient
  lease: ObjectRef
  /** Whether the predecessor runs: undo came before apply stopped it, or has started it already. */
  isPredecessorBack: () => Promise<boolean>
  clock: Clock
}

/**
 * Holds the lease while `undo` works, so that no `serve` acts meanwhile, and no predecessor. It is ours only once its
 * holder has released it, or has not renewed it for its whole length. A predecessor that runs and leads keeps it: that
 * keeps ours from acting too.
 */
export function holdLease(deps: Deps): LeaseHold {
  const { client, lease, clock } = deps
  const kept = keptLease(claimedLease(client, lease, clock), {
    clock,
    durationMs: leaseDurationMs,
    taken: () => takenError(lease),
  })
  return {
    step: {
      name: 'hold-lease',
      title: `Keep every eip-admission from acting, by the ${placeOf(lease)}`,
      missing: async () => (kept.isOurs() ? undefined : holderMissing(deps)),
      act: async () => void (await kept.claim()),
    },
    check: kept.check,
    release: kept.release,
  }
}

/** Who still has the lease; undefined if that is the predecessor, which runs. */
async function holderMissing({ client, lease, isPredecessorBack }: Deps): Promise<Missing | undefined> {
  const stored = await client.get(leases, lease)
  const holder = stored?.spec?.holderIdentity ?? ''
  if (isInTheWay(stored) && !isOfTakeover(holder) && (await isPredecessorBack())) return undefined
  if (holder === '') return { text: `claiming the ${placeOf(lease)}` }
  return {
    text: `${holder} holds the ${placeOf(lease)}`,
    hint: 'stop every `eip-admission serve` that runs outside the cluster; a lease of a dead process expires by itself',
  }
}

function takenError(lease: ObjectRef): Error {
  return new Error(
    `another process took the ${placeOf(lease)}; stop every \`eip-admission serve\`, then run \`eip-admission takeover undo\` again`,
  )
}

function placeOf({ namespace, name }: ObjectRef): string {
  return `lease ${namespace}/${name}`
}
