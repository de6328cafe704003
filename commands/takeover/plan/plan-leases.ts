import { type Lease, keyOf } from '../../../kube/objects.ts'
import { isFalse } from '../../../inspect/given-settings.ts'
import { isHeld, isOwnIdentity } from '../../../kube/lease.ts'
import { placeOf } from '../lead-lease.ts'
import { livingWorker } from '../lock.ts'
import { valueOf } from '../../../inspect/fact.ts'
import type { PlanInput } from './facts.ts'
import {
  type ObjectRef,
  type PlanFindings,
  type PlannedLease,
  type TakeoverPlan,
  type TakeoverStatus,
  warning,
} from './plan.ts'

/** The leases of both programs. */
export type PlannedLeases = {
  lease: PlannedLease
  /** The process of eip-admission that leads. */
  leader: string | undefined
  findings: PlanFindings
}

/** The place of the predecessor's lease, and whether it elects a leader. */
export function leaseOf({ predecessor, given: { flags } }: Pick<PlanInput, 'predecessor' | 'given'>): ObjectRef & {
  isUsed: boolean
} {
  return {
    namespace: flags['--leader-elect-resource-namespace'] ?? predecessor.lease.namespace,
    name: flags['--leader-elect-resource-name'] ?? predecessor.lease.name,
    isUsed: !isFalse(flags['--leader-elect']),
  }
}

/** The leases of both programs, and the findings about them. Pure. */
export function planLeases(input: PlanInput): PlannedLeases {
  const { facts, context } = input
  const { leaseNamespace, leaseName } = context.settings.process
  const theirs = leaseOf(input)
  const ours = { namespace: leaseNamespace, name: leaseName }
  const [seen, own] = [theirs, ours].map(({ namespace, name }) =>
    valueOf(facts.leases)?.find((one) => keyOf(one) === `${namespace}/${name}`),
  )
  // A lease without renewals expires within minutes, and then no process holds it.
  const holderOf = (lease?: Lease) => (lease && isHeld(lease, context.now) ? (lease.spec?.holderIdentity ?? '') : '')
  const holder = holderOf(seen)
  const leader = isOwnIdentity(holderOf(own)) ? holderOf(own) : undefined
  return {
    lease: { ...theirs, holder: holder === '' ? undefined : holder },
    leader,
    findings: theirs.isUsed && placeOf(theirs) !== placeOf(ours) ? otherLease(theirs, ours) : [],
  }
}

function otherLease(at: ObjectRef, ours: ObjectRef): PlanFindings {
  return warning('other-lease', `Lease ${ours.namespace}/${ours.name}`, {
    what: `the predecessor leads with ${at.namespace}/${at.name}: two different leases do not stop both programs from running`,
    remedy: `--leader-elect-resource-name=${at.name} --leader-elect-resource-namespace=${at.namespace}`,
  })
}

/** The state of a takeover that was started; undefined if none was. Pure. */
export function planStatus(
  { facts, context }: PlanInput,
  {
    leader,
    workloads,
    services,
  }: Pick<PlannedLeases, 'leader'> & Pick<TakeoverPlan['predecessor'], 'workloads'> & Pick<TakeoverPlan, 'services'>,
): TakeoverStatus | undefined {
  const progress = valueOf(facts.progress)
  if (!progress) return undefined
  const { state: recorded, step } = progress
  const { leaseNamespace, leaseName } = context.settings.process
  const open = services.filter(({ held }) => held === 'reserved').length
  const lacking = [
    ...workloads
      .filter(({ isRunning }) => isRunning)
      .map(({ kind, namespace, name }) => `${kind} ${namespace}/${name} runs again`),
    ...(leader === undefined ? [`no eip-admission holds the lease ${leaseNamespace}/${leaseName}`] : []),
    ...(open > 0 ? [`${open} ${open === 1 ? 'reservation has' : 'reservations have'} no ElasticIP`] : []),
  ]
  const worker = livingWorker(valueOf(facts.lock), context.now)
  return { recorded, step, lacking: recorded === 'applied' ? lacking : [], worker }
}
