// How a Service loses its address. The first row that applies decides.
//
//   the Service                     | and                                              | step
//   --------------------------------+--------------------------------------------------+-----------------------------
//   does not exist                  | the record is being deleted                      | release
//   does not exist                  | the record is unbound, within the grace period   | wait
//   does not exist                  | the record is Bound, or unbound after the grace  | set-reclaim-policy
//                                   | period, and says that the Service was protected  |
//   does not exist                  | the record is Bound                              | release or retain
//   does not exist                  | the record is unbound, after the grace period    | release; retain if once held
//   does not exist                  | the record is Released or Available              | -
//   is deleted                      | the software would not withdraw its address then | restore-service
//   is deleted, with our finalizer  | the software withdraws only on deletion, and the | set-reclaim-policy
//                                   | record, not Released, has another reclaim policy |
//   is deleted, with our finalizer  | the same, and the record says wrongly that it is | note-protection
//                                   | protected                                        |
//   is deleted, with our finalizer  | the software withdraws only on deletion          | remove-finalizers; before,
//                                   |                                                  | recover-records as below
//   has our finalizer               | it still shows an address; ours, if it is foreign| withdraw, wait, clear-status
//   has lost our finalizer          | it still shows the address that its record holds | withdraw, wait, clear-status
//   wants no address                | the record is unbound, within the grace period   | wait
//   wants no address                | it names the record's address as if it were own  | hide-address
//   wants no address                | our annotations, and its release is postponed    | hide-address
//   is deleted or wants no address  | the record lost its address, and has another     | set-reclaim-policy
//                                   | reclaim policy                                   |
//   is deleted or wants no address  | it has a record that is not Released             | release or retain
//   wants no address                | it has our annotations                           | hide-address
//   has our finalizer               | its second address is not released yet           | wait
//   is deleted, with our finalizer  | it shows our address that is to be               | recover-records
//                                   | retained, and no record has it                   |
//   has our finalizer               |                                                  | remove-finalizers
//   otherwise                       |                                                  | -
//
// Some software withdraws an address only when its Service is deleted (announcer.ts). The first row that
// applies decides about a step that releases the address.
//
//   the Service                            | the record                      | plan
//   ---------------------------------------+---------------------------------+---------------------------
//   does not exist, or never had it stored |                                 | release
//   wants the address                      |                                 | release, which ends as kept
//   any other                              | its deletion was requested      | release
//   any other                              | is Releasing                    | -, until the Service is deleted
//   any other                              |                                 | postpone-release
import { type Service, ingressOf } from '../../kube/objects.ts'
import { type ElasticIP, heldAddress, phaseOf } from '../../ledger/record/elastic-ip.ts'
import { addressAnnotation, upstreamFinalizer, withdrawingAnnotation } from '../../ledger/record/names.ts'
import { hasBeenHeld } from '../../ledger/record/records.ts'
import { showsAddress } from '../../ledger/record/address-use.ts'
import { hasBalancer } from '../../ledger/want/managed.ts'
import { finalReclaimPolicy } from '../../ledger/want/reclaim.ts'
import type { Want } from '../../ledger/want/want.ts'
import { isWanted } from '../../ledger/want/wanted.ts'
import { giveUp, noteLastPolicy, noteUnseenEnd, releaseOrRetain } from './reclaim-steps.ts'
import { graceLeftMs, hasFinalizer, secondAddresses, type ServiceSeen } from './service-state.ts'
import { type RemoveFinalizers, type ServicePlan, settled, type ServiceStep } from './service-step.ts'
import type { Announcer } from '../../announcers/announcer.ts'

/** How soon we check again whether the announcing software has withdrawn the address, and its time limit for that. */
const withdrawalPollMs = 500
export const withdrawalTimeoutMs = 60_000

/** How soon we check again whether the second address of a Service is released. */
const secondPollMs = 1_000

const noWant: Want = { kind: 'nothing', reason: '' }

/** Plans for a record whose Service does not exist: not yet, or no longer. */
export function planWithoutService(seen: ServiceSeen, record: ElasticIP): ServicePlan {
  // A person deleted the record, which decides if no Service holds the address.
  if (record.metadata.deletionTimestamp) return { step: { do: 'release', record } }
  switch (phaseOf(record)) {
    case 'Bound':
      return { step: noteUnseenEnd(seen, record) ?? releaseOrRetain(record) }
    case 'Requested':
    case 'Reserved': {
      const againInMs = graceLeftMs(seen)
      if (againInMs !== undefined) return { againInMs }
      const unseen = noteUnseenEnd(seen, record)
      if (unseen) return { step: unseen }
      // An address that was never held is not retained, because its record would block the next Service of that name.
      return { step: hasBeenHeld(record) ? releaseOrRetain(record) : { do: 'release', record } }
    }
    case 'Releasing':
      return { step: { do: 'release', record } }
    case 'Released':
    case 'Available':
      return settled
  }
}

/** Plans for a stored Service that wants no address. */
export function planNoAddress(seen: ServiceSeen, service: Service): ServicePlan {
  const againInMs = graceLeftMs(seen)
  if (againInMs === undefined) return planRemoval(seen, service)
  const { step, ...outcome } = planRemoval({ ...seen, record: undefined }, service)
  return step ? { step } : { againInMs, ...outcome }
}

/** Plans to withdraw the address, then to release it, and finally to let the Service be deleted. */
export function planRemoval(seen: ServiceSeen, service: Service): ServicePlan {
  const { wanted = noWant, announcer, record } = seen
  const change = service.metadata.deletionTimestamp ? restoringChange(seen, service) : undefined
  if (change) return { step: { do: 'restore-service', change } }
  const isOurs = hasFinalizerForUs(service, wanted)
  // Its record will be reconciled without the Service, so the Service's policy is noted first.
  if (isOurs && service.metadata.deletionTimestamp && announcer.withdrawsOnlyOnDeletion) {
    return { step: (record && noteLastPolicy(seen, record)) ?? letGo(seen, service) }
  }
  if (isOurs ? isAnnounced(seen, service) : showsHeld(seen, service)) return planWithdrawal(seen, service)
  const unannotated = unannotatedAddress(service, record)
  if (unannotated !== undefined) return { step: { do: 'hide-address', address: unannotated } }
  const { annotations, deletionTimestamp } = service.metadata
  const isShown = !deletionTimestamp && (annotations?.[addressAnnotation] !== undefined || isWithdrawing(service))
  if (record && phaseOf(record) !== 'Released') {
    // Its record stays as long as the Service, and so would the address that the Service shows.
    if (isShown && isReleasePostponed(seen, record)) return { step: { do: 'hide-address' } }
    return { step: giveUp(seen, record) }
  }
  if (isShown) return { step: { do: 'hide-address' } }
  // Usually the change of its record triggers an earlier look.
  if (isOurs && seen.others.some((second) => phaseOf(second) !== 'Released')) return { againInMs: secondPollMs }
  return isOurs ? { step: letGo(seen, service) } : settled
}

/** The change that makes the announcing software withdraw the address on deletion; undefined if none is needed. */
function restoringChange(seen: ServiceSeen, service: Service): object | undefined {
  const { announcer, record } = seen
  const address = record?.status?.address
  if (!record || address === undefined || !isReleasePostponed(seen, record)) return undefined
  return announcer.withdrawsOnlyOnDeletion?.restoring(service, address)
}

/**
 * Plans until no Service shows the address. Software that writes the status is asked to withdraw, and gets some time:
 * an address that it does not show is not announced. After the timeout we continue, because removed software never
 * answers. Only software that would write the address back is awaited forever, until the setting changes.
 */
export function planWithdrawal(seen: ServiceSeen, service: Service): ServicePlan {
  const { announcer, withdrawingForMs } = seen
  const { withdrawal } = announcer
  const kept = service.metadata.deletionTimestamp ? [] : secondAddresses(seen)
  if (withdrawal && !isWithdrawalAsked(service, { withdrawal })) return { step: { do: 'withdraw' } }
  const isAwaited = withdrawal?.clearsStatus ?? false
  const isOverdue = withdrawingForMs >= withdrawalTimeoutMs
  if (isAwaited && !isOverdue) return { againInMs: withdrawalPollMs }
  if (isAwaited && withdrawal?.restoresStatus) return { step: { do: 'report-withdrawal' } }
  return { step: { do: 'clear-status', isOverdue: isAwaited, ...(kept.length > 0 && { kept }) } }
}

/** Whether the Service shows the address that its record holds: a replacement by its manifest drops our finalizer. */
function showsHeld({ record }: ServiceSeen, service: Service): boolean {
  const isItsOwn = record !== undefined && record.spec.claimRef?.uid === service.metadata.uid
  return isItsOwn && showsAddress(service, heldAddress(record))
}

/** Whether the Service shows an address in its status, or ours in an annotation for software that writes no status. */
function isAnnounced({ record, others, wanted, announcer: { withdrawal } }: ServiceSeen, service: Service): boolean {
  const { annotations = {} } = service.metadata
  const records = [record, ...others].map((one) => one?.status?.address)
  const ours = [annotations[addressAnnotation], ...records].filter((address) => address !== undefined)
  const shown = ingressOf(service)
  // Another program or a managed balancer that now serves the Service may have its own address in the status.
  const hasOtherServer = wanted?.kind === 'foreign' || wanted?.kind === 'managed' || hasBalancer(service)
  if (hasOtherServer ? shown.some(({ ip = '' }) => ours.includes(ip)) : shown.length > 0) return true
  const removed = Object.entries(withdrawal?.annotations ?? {}).filter(([, value]) => value === null)
  return !isWithdrawing(service) && removed.some(([name]) => ours.includes(annotations[name] ?? ''))
}

/**
 * The address of the record, if the Service names it without our annotation, as a predecessor left it. Without a record
 * it would look like the user's own address once the Service becomes a LoadBalancer again.
 */
function unannotatedAddress({ metadata, spec }: Service, record: ElasticIP | undefined): string | undefined {
  const isAnnotated = metadata.annotations?.[addressAnnotation] !== undefined
  const address = record?.status?.address
  if (metadata.deletionTimestamp || isAnnotated || spec.loadBalancerIP !== address) return undefined
  return address
}

/**
 * The last step of a Service. No sweep writes a record for a Service that is being deleted, so an address to retain
 * would then become an orphan.
 */
function letGo({ wanted = noWant, record, policy }: ServiceSeen, service: Service): ServiceStep {
  const last = removeFinalizers(service, wanted)
  const { annotations, deletionTimestamp } = service.metadata
  const address =
    deletionTimestamp === undefined || wanted.kind === 'named' ? undefined : annotations?.[addressAnnotation]
  const isRetained = (finalReclaimPolicy(service, policy) ?? policy.reclaimPolicy) === 'Retain'
  return !record && address !== undefined && isRetained ? { do: 'recover-records', address, otherwise: last } : last
}

/**
 * A Service of another class belongs to another controller, which may have written the upstream finalizer. A
 * predecessor also wrote it for the managed balancer, which is deleted first.
 */
function removeFinalizers(service: Service, wanted: Want): RemoveFinalizers {
  const isOthers = service.spec.loadBalancerClass !== undefined || wanted.kind === 'managed' || hasBalancer(service)
  return { do: 'remove-finalizers', ...(isOthers && { only: 'ours' }) }
}

/**
 * Whether a finalizer waits for us: ours, or one that a predecessor left on a Service that we serve now. Like the
 * upstream service controller, we also remove it from a Service that is no LoadBalancer, because no other program
 * would. The predecessor's reservation can be found by its marks, without a Service.
 */
function hasFinalizerForUs(service: Service, wanted: Want): boolean {
  const isNoLoadBalancer = wanted.kind === 'nothing' && service.spec.type !== 'LoadBalancer' && !hasBalancer(service)
  const isOurTask = isNoLoadBalancer || ['reserve', 'named', 'own'].includes(wanted.kind)
  return hasFinalizer(service) || (isOurTask && (service.metadata.finalizers?.includes(upstreamFinalizer) ?? false))
}

/** Changes a plan so that no address is released that the announcing software continues to announce. */
export function postponeUntilDeletion(plan: ServicePlan, seen: Omit<ServiceSeen, 'announcement'>): ServicePlan {
  const { step } = plan
  if (step?.do !== 'release' || !isReleasePostponed(seen, step.record)) return plan
  return phaseOf(step.record) === 'Releasing' ? settled : { step: { do: 'postpone-release', record: step.record } }
}

/** Whether the software continues to announce the address of a record although its Service no longer wants it. */
export function isReleasePostponed(
  { announcer, service, wanted }: Pick<ServiceSeen, 'announcer' | 'service' | 'wanted'>,
  record: ElasticIP,
): boolean {
  const { address, deletionRequestedAt } = record.status ?? {}
  if (!announcer.withdrawsOnlyOnDeletion || !service || !wanted) return false
  if (address === undefined || deletionRequestedAt !== undefined || !mayBeAnnounced(service, record)) return false
  return service.metadata.deletionTimestamp !== undefined || !isWanted(record, wanted)
}

/** Whether this very Service was stored with the address: software announces it then, whether we bound it or not. */
function mayBeAnnounced(service: Service, { spec: { claimRef } }: ElasticIP): boolean {
  const { uid, deletionTimestamp } = service.metadata
  if (claimRef?.uid !== undefined) return claimRef.uid === uid
  return hasFinalizer(service) || deletionTimestamp !== undefined
}

/** Whether the announcing software was asked to withdraw the Service's address. */
export function isWithdrawing({ metadata }: Service): boolean {
  return metadata.annotations?.[withdrawingAnnotation] !== undefined
}

/**
 * Whether the Service has everything that makes the announcing software withdraw its address. The annotation alone proves
 * nothing: a tenant may have written it.
 */
export function isWithdrawalAsked(service: Service, { withdrawal }: Pick<Announcer, 'withdrawal'>): boolean {
  const { annotations = {}, deletionTimestamp } = service.metadata
  const asks = Object.entries(withdrawal?.annotations ?? {})
  const isShown = deletionTimestamp !== undefined && Boolean(service.spec.loadBalancerIP)
  return isWithdrawing(service) && !isShown && asks.every(([name, value]) => (annotations[name] ?? null) === value)
}
