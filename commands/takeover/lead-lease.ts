import type { KubeClient } from '../../kube/client.ts'
import { type KeptLease, keptLease } from '../../kube/kept-lease.ts'
import { type LeaseOptions, isOwnIdentity } from '../../kube/lease.ts'
import type { Lease } from '../../kube/objects.ts'
import { leases } from '../../kube/resource.ts'
import { runOf } from './lock.ts'
import type { ObjectRef, PlannedLease } from './plan/plan.ts'
import type { Missing, TakeoverStep } from './steps.ts'

/** Whether this identity belongs to another program than eip-admission. */
export function isForeign(identity: string): boolean {
  return identity !== '' && !isOwnIdentity(identity) && !runOf(identity)
}

/**
 * How long a killed run keeps `serve` from leading: a predecessor may be running, and the next run continues at once.
 */
const holdMs = 24 * 3_600_000

/** A live program renews its lease every two seconds. */
const quietMs = 2_500

/** The lease with which our program leads, held by a run that has the lock. */
export type LeadLease = KeptLease & {
  at: ObjectRef
  /** The hostnames, as in lease identities, of the predecessor's ended pods. */
  ended: Set<string>
}

/**
 * While this command holds the lease, no `serve` acts, nor does a predecessor that elects by it. Another run of this
 * command that holds it is dead, because this one has the lock. A holder whose pod has ended does not release the
 * lease, so it counts only until it has been quiet for a while. For all others the lease's duration counts.
 */
export function leadLease(at: ObjectRef, deps: Pick<LeaseOptions, 'client' | 'identity' | 'clock'>): LeadLease {
  const ended = new Set<string>()
  const graceMs = (holder: string) => {
    if (runOf(holder)) return 0
    // A node is named after its machine, in lower case.
    return ended.has(holder.slice(0, holder.lastIndexOf('_')).toLowerCase()) ? quietMs : undefined
  }
  const taken = () =>
    new Error(
      `another process took the ${placeOf(at)}; stop every \`eip-admission serve\`, then run this command again`,
    )
  return { ...keptLease({ ...deps, lease: at, leaseDurationMs: holdMs, graceMs, taken }), at, ended }
}

/**
 * Ensures that no eip-admission acts beside the predecessor: this run holds the lease, unless a program that renews it
 * `mayStay`. A lease that no process renews is left over: the predecessor elects by another lock, or has stopped.
 */
export function holdStep(
  client: KubeClient,
  lead: LeadLease,
  { mayStay, onClaimed }: { mayStay: (holder: string) => boolean | Promise<boolean>; onClaimed?: () => void },
): TakeoverStep {
  const place = placeOf(lead.at)
  let first: Lease | undefined
  return {
    title: `Stop every eip-admission from acting, through the ${place}`,
    async missing(): Promise<Missing | undefined> {
      if (lead.isOurs()) return undefined
      const stored = await client.get(leases, lead.at)
      first ??= stored
      const { holderIdentity: holder = '', renewTime } = stored?.spec ?? {}
      if (holder === '' || runOf(holder)) return { text: `claiming the ${place}` }
      if (renewTime === first?.spec?.renewTime) return { text: `waiting to see whether ${holder} renews the ${place}` }
      if (await mayStay(holder)) return undefined
      return holdingText(holder, place)
    },
    async act() {
      if (await lead.claim()) onClaimed?.()
    },
  }
}

/** The name of another program that holds the lease, and how to stop it. */
export function holdingText(holder: string, place: string): Missing {
  return {
    text: `the ${place} is held by ${holder}${isForeign(holder) ? ', which does not act for eip-admission' : ''}`,
    hint: isForeign(holder)
      ? `stop that program: \`kubectl get pods -A -o wide | grep ${holder.split('_')[0]}\` finds it`
      : 'stop every `eip-admission serve` that runs outside the cluster; a lease of a dead process expires automatically',
  }
}

/** The name of a lease for a sentence. */
export function placeOf({ namespace, name }: ObjectRef): string {
  return `lease ${namespace}/${name}`
}

/** Whether a predecessor that elects excludes ours, because both elect by one lease. */
export function isShared({ isUsed, ...theirs }: PlannedLease, ours: ObjectRef): boolean {
  return isUsed && placeOf(theirs) === placeOf(ours)
}
