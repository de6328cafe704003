import { type Lease, keyOf } from '../../../kube/objects.ts'
import { isFalse } from '../../../inspect/given-settings.ts'
import { isHeld, isOwnIdentity } from '../../../kube/lease-holder.ts'
import { isOfTakeover } from '../lead-lease.ts'
import { livingWorker } from '../lock.ts'
import { type TakeoverStatus, isComplete, nextCommand, statusText } from '../takeover-status.ts'
import { type PlanInput, valueOf } from './facts.ts'
import { type ObjectRef, type PlanFinding, type PlannedLease, type TakeoverPlan, blocker, warning } from './plan.ts'

/** The place of the predecessor's lease, and whether it elects a leader. */
export function leaseOf({ predecessor, given: { flags } }: Pick<PlanInput, 'predecessor' | 'given'>): {
  at: ObjectRef
  isUsed: boolean
} {
  return {
    at: {
      namespace: flags['--leader-elect-resource-namespace'] ?? predecessor.lease.namespace,
      name: flags['--leader-elect-resource-name'] ?? predecessor.lease.name,
    },
    isUsed: !isFalse(flags['--leader-elect']),
  }
}

/** The lease of the predecessor, and the findings about leases. Pure. */
export function planLease(input: PlanInput): { lease: PlannedLease; findings: PlanFinding[] } {
  const { at, isUsed } = leaseOf(input)
  const { at: ours, leader } = ownLeader(input)
  const { holderIdentity: holder, renewTime } = storedLease(input, at)?.spec ?? {}
  const isOther = isUsed && (at.namespace !== ours.namespace || at.name !== ours.name)
  const isBegun = valueOf(input.facts.progress) !== undefined
  return {
    lease: { ...at, isUsed, holder: holder === '' ? undefined : holder, ...(renewTime !== undefined && { renewTime }) },
    findings: [
      ...(leader !== undefined && !isBegun ? [alreadyLed(ours, leader)] : []),
      ...(isOther ? [otherLease(at, ours)] : []),
    ],
  }
}

/** The holder of the predecessor's lease, if it is not ours. A lease without renewals expires in a minute or two. */
export function liveHolder(input: PlanInput): string | undefined {
  const { at, isUsed } = leaseOf(input)
  const stored = storedLease(input, at)
  const holder = stored?.spec?.holderIdentity ?? ''
  if (!isUsed || !stored || !isHeld(stored, input.context.now)) return undefined
  return isOwnIdentity(holder) || isOfTakeover(holder) ? undefined : holder
}

function storedLease({ facts }: PlanInput, { namespace, name }: ObjectRef): Lease | undefined {
  return valueOf(facts.leases)?.find((one) => keyOf(one) === `${namespace}/${name}`)
}

/** The lease by which our program leads, and who of ours holds it now. */
function ownLeader(input: PlanInput): { at: ObjectRef; leader: string | undefined } {
  const { now, settings } = input.context
  const at = { namespace: settings.process.leaseNamespace, name: settings.process.leaseName }
  const stored = storedLease(input, at)
  const holder = stored?.spec?.holderIdentity ?? ''
  return { at, leader: stored && isHeld(stored, now) && isOwnIdentity(holder) ? holder : undefined }
}

function alreadyLed({ namespace, name }: ObjectRef, leader: string): PlanFinding {
  return blocker('already-running', `Lease ${namespace}/${name}`, {
    what: `a \`serve\` of eip-admission holds it (${leader})`,
    remedy: 'stop it, or continue the takeover that was begun: `eip-admission takeover apply`',
  })
}

function otherLease(at: ObjectRef, ours: ObjectRef): PlanFinding {
  return warning('other-lease', `Lease ${ours.namespace}/${ours.name}`, {
    what: `the predecessor leads by ${at.namespace}/${at.name}: the two leases do not exclude both programs from running`,
    remedy: `--leader-elect-resource-name=${at.name} --leader-elect-resource-namespace=${at.namespace}`,
  })
}

/** The state of a takeover that was started; undefined if none was. Pure. */
export function planStatus(
  input: PlanInput,
  { predecessor: { workloads }, services }: Pick<TakeoverPlan, 'predecessor' | 'services'>,
): TakeoverStatus | undefined {
  const { facts, context } = input
  const progress = valueOf(facts.progress)
  if (!progress) return undefined
  const { state: recorded, step } = progress
  const { at, leader } = ownLeader(input)
  const open = services.filter(({ held }) => held === 'reserved').length
  const lacking = [
    ...workloads
      .filter(({ isRunning }) => isRunning)
      .map(({ kind, namespace, name }) => `${kind} ${namespace}/${name} runs again`),
    ...(leader === undefined ? [`no eip-admission holds the lease ${at.namespace}/${at.name}`] : []),
    ...(open > 0 ? [`${open} ${open === 1 ? 'reservation has' : 'reservations have'} no ElasticIP`] : []),
  ]
  const worker = livingWorker(valueOf(facts.lock), context.now)
  return { recorded, step, lacking: recorded === 'applied' ? lacking : [], worker }
}

/** The warning of a takeover that is not complete. */
export function statusFindings(status: TakeoverStatus | undefined): PlanFinding[] {
  if (!status || isComplete(status)) return []
  const other =
    status.recorded === 'undoing'
      ? '`eip-admission takeover apply` takes over again'
      : '`eip-admission takeover undo` goes back'
  return [
    warning('takeover-begun', 'the cluster', {
      what: `${statusText(status)}; the plan shows what is left`,
      remedy: status.worker
        ? 'wait until that run has ended, then run takeover plan again'
        : `\`${nextCommand(status)}\` continues it, ${other}`,
    }),
  ]
}
