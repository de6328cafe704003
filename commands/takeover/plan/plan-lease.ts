import { type Lease, keyOf } from '../../../kube/objects.ts'
import { isHeld, isOwnIdentity } from '../../../kube/lease-holder.ts'
import type { Finding, ObjectRef, PlannedLease } from './plan.ts'
import type { GivenSettings } from '../predecessors/given-settings.ts'
import type { Predecessor } from '../../../inspect/predecessors.ts'

/** Where the predecessor's lease is, and whether it elects a leader. */
export function leaseOf({ predecessor, given }: { predecessor: Predecessor; given: Pick<GivenSettings, 'flags'> }): {
  at: ObjectRef
  isUsed: boolean
} {
  const { flags } = given
  return {
    at: {
      namespace: flags['--leader-elect-resource-namespace'] ?? predecessor.lease.namespace,
      name: flags['--leader-elect-resource-name'] ?? predecessor.lease.name,
    },
    isUsed: !/^(0|f|false)$/i.test(flags['--leader-elect'] ?? 'true'),
  }
}

type SeenLeases = {
  /** The lease of the predecessor. */
  at: ObjectRef
  isUsed: boolean
  isBegun: boolean
  ours: ObjectRef
  leases: readonly Lease[]
  now: Date
}

/** The lease of the predecessor, and what of the leases stands in the way. Pure. */
export function planLease(of: SeenLeases): { lease: PlannedLease; blockers: Finding[]; warnings: Finding[] } {
  const { at, isUsed, isBegun, ours, leases, now } = of
  const find = ({ namespace, name }: ObjectRef) => leases.find((one) => keyOf(one) === `${namespace}/${name}`)
  const { holderIdentity: holder, renewTime } = find(at)?.spec ?? {}
  const own = find(ours)
  const isLed = own !== undefined && isHeld(own, now) && isOwnIdentity(own.spec?.holderIdentity ?? '')
  const isOther = isUsed && (at.namespace !== ours.namespace || at.name !== ours.name)
  return {
    lease: { ...at, isUsed, holder: holder === '' ? undefined : holder, ...(renewTime !== undefined && { renewTime }) },
    blockers: isLed && !isBegun ? [ownLeader(ours, own)] : [],
    warnings: isOther ? [otherLease(at, ours)] : [],
  }
}

function ownLeader({ namespace, name }: ObjectRef, { spec }: Lease): Finding {
  return {
    reason: 'already-running',
    where: `Lease ${namespace}/${name}`,
    what: `a \`serve\` of eip-admission holds it (${spec?.holderIdentity})`,
    remedy: 'stop it, or continue the takeover that was begun: eip-admission takeover apply',
  }
}

function otherLease(at: ObjectRef, ours: ObjectRef): Finding {
  return {
    reason: 'other-lease',
    where: `Lease ${ours.namespace}/${ours.name}`,
    what: `the predecessor leads by ${at.namespace}/${at.name}: the two leases do not exclude both programs from running`,
    remedy: `--leader-elect-resource-name=${at.name} --leader-elect-resource-namespace=${at.namespace}`,
  }
}
