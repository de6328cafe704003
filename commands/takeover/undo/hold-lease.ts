import type { KubeClient } from '../../../kube/client.ts'
import { type Clock, systemClock } from '../../../kube/clock.ts'
import { leases } from '../../../kube/resource.ts'
import { claimedLease, isInTheWay, isOfTakeover } from '../apply/free-lease.ts'
import { keptLease, leaseDurationMs } from '../../../kube/kept-lease.ts'
import type { ObjectRef } from '../plan/plan.ts'
import type { Missing, Step } from '../steps.ts'

export type LeaseHold = {
  /** Claims the lease as soon as it is free, and keeps it until `release`. */
  step: Step
  /** Throws if the lease is another's by now: then somebody else acts. */
  check: () => Promise<void>
  release: () => Promise<void>
}

type Deps = {
  client: KubeClient
  lease: ObjectRef
  /** Whether the predecessor runs: undo came before apply stopped it, or has started it already. */
  isPredecessorBack: () => Promise<boolean>
  clock?: Clock
}

/**
 * Holds the lease while `undo` works, so that no `serve` acts meanwhile, and no predecessor. It is ours only once its
 * holder has released it, or has not renewed it for its whole length. A predecessor that runs and leads keeps it: that
 * keeps ours from acting too.
 */
export function holdLease(deps: Deps): LeaseHold {
  const { client, lease, clock = systemClock } = deps
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
