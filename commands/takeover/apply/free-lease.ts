import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { KubeClient } from '../../../kube/client.ts'
import { type Clock, systemClock } from '../../../kube/clock.ts'
import { type LeaseRecord, leaseRecord } from '../../../kube/lease.ts'
import type { Lease } from '../../../kube/objects.ts'
import { leases } from '../../../kube/resource.ts'
import { isOwnIdentity } from '../../../kube/lease-holder.ts'
import { claimed, leaseDurationMs } from '../../../kube/kept-lease.ts'
import type { ObjectRef } from '../plan/plan.ts'
import type { Step } from '../steps.ts'

const infix = '_takeover_'

/** Whether a run of this command has this identity, perhaps one that was killed. */
export function isOfTakeover(identity: string): boolean {
  return identity.includes(infix)
}

/** The lease as this command claims it. Its identity is none of a `serve`, so nobody takes it for a leader of ours. */
export function claimedLease(client: KubeClient, lease: ObjectRef, clock: Clock = systemClock): LeaseRecord {
  const identity = `${hostname()}${infix}${randomUUID()}`
  return leaseRecord({ client, lease, identity, leaseDurationMs, callTimeoutMs: 5_000, clock })
}

/** Whether a lease keeps our program waiting although its holder may be dead. */
export function isInTheWay(lease: Lease | undefined): boolean {
  const holder = lease?.spec?.holderIdentity ?? ''
  return holder !== '' && !isOwnIdentity(holder)
}

/**
 * Frees the lease of a predecessor that ended without releasing it. We claim it by the rules of every contender, so only
 * when it was not renewed for its whole length, and release it at once.
 */
export function freeLeaseStep(client: KubeClient, lease: ObjectRef, clock: Clock = systemClock): Step {
  const record = claimedLease(client, lease, clock)
  const place = `lease ${lease.namespace}/${lease.name}`
  const read = () => client.get(leases, lease)
  return {
    name: 'free-lease',
    title: `Free the ${place}`,
    async missing() {
      const stored = await read()
      if (!isInTheWay(stored)) return undefined
      return { text: `waiting until the ${place} of ${stored?.spec?.holderIdentity} has expired` }
    },
    async act() {
      if (await claimed(record)) await record.release()
    },
  }
}
