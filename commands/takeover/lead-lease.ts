import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { KubeClient } from '../../kube/client.ts'
import type { Clock } from '../../kube/clock.ts'
import { type KeptLease, keptLease, leaseDurationMs } from '../../kube/kept-lease.ts'
import { isOwnIdentity, leaseRecord } from '../../kube/lease.ts'
import { leases } from '../../kube/resource.ts'
import type { ObjectRef } from './plan/plan.ts'
import type { Missing, TakeoverStep } from './steps.ts'

const infix = '_takeover_'

/** Whether a run of this command has this identity, perhaps one that was killed. */
export function isOfTakeover(identity: string): boolean {
  return identity.includes(infix)
}

/** Whether a program that is not eip-admission has this identity. */
export function isForeign(identity: string): boolean {
  return identity !== '' && !isOwnIdentity(identity) && !isOfTakeover(identity)
}

/** The time without a leading `serve` after a killed run: a predecessor may run, and the next run continues at once. */
const holdMs = 24 * 3_600_000

/** A program that lives renews its lease every two seconds. */
const quietMs = 2_500

/** The lease by which our program leads, as a run that has the lock holds it. */
export type LeadLease = Omit<KeptLease, 'claim'> & {
  at: ObjectRef
  /** Claims the lease where no program that may live holds it, and returns its holder: empty if that is this run. */
  claim: () => Promise<string>
  /** The machines, as identities of leases begin, on which a pod of the predecessor has ended. */
  ended: Set<string>
}

/**
 * While this command holds the lease no `serve` acts, and no predecessor that elects by it. Another run of this command that
 * holds it is dead, for this one has the lock. A holder whose pod has ended releases nothing, so it counts only until it was
 * quiet. All others count as their lease says.
 */
export function leadLease({ client, lease, clock }: { client: KubeClient; lease: ObjectRef; clock: Clock }): LeadLease {
  // It is none of a `serve`, so nobody takes it for a leader of ours.
  const identity = `${hostname()}${infix}${randomUUID()}`
  const ended = new Set<string>()
  const graceMs = (holder: string) => {
    if (isOfTakeover(holder)) return 0
    // A node is named as its machine, in small letters.
    return ended.has(holder.slice(0, holder.lastIndexOf('_')).toLowerCase()) ? quietMs : undefined
  }
  const at = { client, lease, identity, leaseDurationMs: holdMs, callTimeoutMs: 5_000, graceMs, clock }
  const record = leaseRecord(at)
  const taken = () =>
    new Error(
      `another process took the ${placeOf(lease)}; stop every \`eip-admission serve\`, then run this command again`,
    )
  const kept = keptLease(record, { clock, durationMs: leaseDurationMs, taken })
  const claim = async () => ((await kept.claim()) ? '' : (record.holder() ?? ''))
  return { ...kept, at: lease, claim, ended }
}

/** Holds the lease while `undo` works. A predecessor that runs and leads keeps it: that keeps ours from acting too. */
export function holdStep(client: KubeClient, lead: LeadLease, isPredecessorBack: () => Promise<boolean>): TakeoverStep {
  const place = placeOf(lead.at)
  return {
    title: `Keep every eip-admission from acting, by the ${place}`,
    async missing(): Promise<Missing | undefined> {
      if (lead.isOurs()) return undefined
      const { holderIdentity: holder = '' } = (await client.get(leases, lead.at))?.spec ?? {}
      if (isForeign(holder) && (await isPredecessorBack())) return undefined
      if (holder === '' || isOfTakeover(holder)) return { text: `claiming the ${place}` }
      return {
        text: `${holder} holds the ${place}`,
        hint: 'stop every `eip-admission serve` that runs outside the cluster; a lease of a dead process expires automatically',
      }
    },
    act: async () => void (await lead.claim()),
  }
}

/** A lease in a sentence. */
export function placeOf({ namespace, name }: ObjectRef): string {
  return `lease ${namespace}/${name}`
}
