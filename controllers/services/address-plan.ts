// How a Service gets its address. The first row that applies decides.
//
//   the Service wants       | and                                              | step
//   ------------------------+--------------------------------------------------+-----------------------------
//   any address             | it has no finalizer of ours                      | add-finalizer
//   its own address         | the record holds that address                    | show-address
//   its own address         | it is in doubt, and the Service does not show it | wait
//   its own address         | the Service shows our address, or still          | hide-address
//                           | has the marks of a withdrawal                    |
//   its own address         | it is not announced                              | announce
//   its own address         | the sweep adopts a reservation for its record    | wait
//   its own address         | an unbound record, within the grace period       | wait
//   its own address         | the record lost its address, and has another     | set-reclaim-policy
//                           | reclaim policy                                   |
//   its own address         | it has a record that is not Released             | release or retain
//   its own address         | it may not have it, but shows it already         | report-problems
//   a reserved address      | the record was claimed for another want, and the | wait, then withdraw, wait,
//                           | Service shows its address                        | clear-status, hide-address
//   a reserved address      | the record was claimed for another want          | wait, then release or retain
//   a reserved address      | the record lost the address, or has one of the   | withdraw, wait, clear-status
//                           | other family, and the Service shows it           |
//   a reserved address      | the record asks for one of the other family, and | wait, then release or retain
//                           | is not Released                                  |
//   a reserved address      | no record holds one                              | claim
//   the address it holds    | the Service shows another, or none; it still has | show-address
//                           | the marks of a withdrawal, or outdated requests  |
//   the address it holds    | the record is not bound to this Service          | bind
//   the address it holds    | it is not announced                              | announce
//   an address that it shows| we are the manager of a field that people write  | yield-fields
//   a reserved address      | its reclaim policy differs from the record's     | set-reclaim-policy
//   a reserved address      | the record says wrongly whether it is protected  | note-protection
//   otherwise               |                                                  | -
import type { AnnouncementRequest } from '../../announcers/announcer.ts'
import { type Service, ingressOf } from '../../kube/objects.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { claimSpecOf } from '../../ledger/claim/claim-spec.ts'
import { addressConditionOf, statusTexts } from '../../ledger/record/address-use.ts'
import { type ElasticIP, familyOf, heldAddress, phaseOf } from '../../ledger/record/elastic-ip.ts'
import { addressAnnotation } from '../../ledger/record/names.ts'
import { isAdoptionBegun, mayFindShown } from '../../ledger/record/records.ts'
import { entriesWithSharedFields } from '../../ledger/record/shared-fields.ts'
import { keptAnnotations, outdatedRequestAnnotations } from '../../ledger/want/own-address.ts'
import { isAnnounceable } from '../../ledger/want/own-address-rules.ts'
import type { Want } from '../../ledger/want/want.ts'
import { isWanted } from '../../ledger/want/wanted.ts'
import { planWithdrawal, isWithdrawing } from './removal-plan.ts'
import {
  type ServiceSeen,
  graceLeftMs,
  hasAnnotations,
  hasFinalizer,
  isBoundTo,
  secondAddresses,
} from './service-state.ts'
import { giveUp, notePolicy, releaseOrRetain } from './reclaim-steps.ts'
import { type ConditionFacts, isSame, shownCondition } from './service-condition.ts'
import { type ServicePlan, type ServiceStep, settled } from './service-step.ts'

/** How soon we check again whether a user-chosen address is known. A change in our knowledge triggers an earlier check. */
const doubtPollMs = 15_000

/** How soon we check a record again that the sweep is writing. Its change triggers an earlier check. */
const adoptionPollMs = 5_000

/** Plans for a Service with an address of its own. */
export function planOwnAddress(seen: ServiceSeen, service: Service, own: Extract<Want, { kind: 'own' }>): ServicePlan {
  const { record } = seen
  const { address, doubt } = own
  if (!hasFinalizer(service)) return { step: { do: 'add-finalizer' } }
  // The address is ours after all: a predecessor wrote it, or a person removed our annotation.
  if (record && canonicalIpAddress(heldAddress(record) ?? '') === address)
    return { step: { do: 'show-address', address: heldAddress(record) ?? address } }
  const isShown = service.metadata.annotations?.[addressAnnotation] !== undefined
  if (!isAnnounceable(service, own)) return { againInMs: doubtPollMs }
  if (isShown || isWithdrawing(service)) return { step: { do: 'hide-address' } }
  const announced = announce(seen, service, address)
  if (announced.step) return announced
  // The sweep may be adopting the reservation of the address that the Service shows.
  if (record && isAdoptionBegun(record)) return { againInMs: adoptionPollMs }
  if (record && phaseOf(record) !== 'Released') return afterGrace(seen, giveUp(seen, record))
  return doubt?.isDecided ? { step: { do: 'report-problems', problems: [doubt.reason] } } : announced
}

/** Plans for a Service that wants an address from us. */
export function planReservedAddress(
  seen: ServiceSeen,
  service: Service,
  wanted: Extract<Want, { kind: 'reserve' | 'named' }>,
): ServicePlan {
  const { record } = seen
  if (!hasFinalizer(service)) return { step: { do: 'add-finalizer' } }
  if (!record || heldAddress(record) === undefined) {
    // An address that the Service has lost must not be announced while another is claimed. In other cases the claim
    // checks.
    const shown = service.metadata.annotations?.[addressAnnotation]
    const isOther = record && familyOf(record) !== wanted.family
    const isLost = record && (isOther || !mayFindShown(record))
    if (isLost && shown !== undefined && shownAsFirst(seen, service) === shown) return planWithdrawal(seen, service)
    // The claim refuses a retained record, and says how to release it.
    const isRetained = record && phaseOf(record) === 'Released'
    if (isOther && !isRetained) return afterGrace(seen, releaseOrRetain(record))
    return { step: { do: 'claim', ...claimSpecOf(wanted) } }
  }
  // The address was claimed for an earlier Service of this name, which wanted something else.
  if (record.spec.claimRef?.uid !== service.metadata.uid && !isWanted(record, wanted))
    return planFormerAddress(seen, service, record)
  const held = planHeldAddress(seen, service, record)
  const note = held.step ? undefined : notePolicy(seen, record)
  return note ? { step: note } : held
}

/**
 * Plans for an address that an earlier Service of the name left. If this Service shows the address, it is hidden first:
 * otherwise it would stay there.
 */
function planFormerAddress(seen: ServiceSeen, service: Service, record: ElasticIP): ServicePlan {
  const address = heldAddress(record)
  const isShown = service.metadata.annotations?.[addressAnnotation] === address
  if (!isShown || graceLeftMs(seen) !== undefined) return afterGrace(seen, releaseOrRetain(record))
  return shownAsFirst(seen, service) === address ? planWithdrawal(seen, service) : { step: { do: 'hide-address' } }
}

/** Plans for a Service whose record holds its address. */
export function planHeldAddress(seen: ServiceSeen, service: Service, record: ElasticIP): ServicePlan {
  const address = heldAddress(record) ?? ''
  const { annotations, uid = '' } = service.metadata
  if (!hasFinalizer(service)) return { step: { do: 'add-finalizer' } }
  const isShown = service.spec.loadBalancerIP === address && annotations?.[addressAnnotation] === address
  const isOutdated = outdatedRequestAnnotations(service, seen.requestAnnotations, address).length > 0
  if (!isShown || isWithdrawing(service) || isOutdated) return { step: { do: 'show-address', address } }
  if (!isBoundTo(service, record)) return { step: { do: 'bind', record, uid } }
  return announce(seen, service, address)
}

/** The addresses in the status, without the second one. */
function shownAsFirst(seen: ServiceSeen, service: Service): string {
  const second = secondAddresses(seen)
  return statusTexts(service)
    .filter((shown) => !second.includes(shown))
    .join()
}

function afterGrace(seen: ServiceSeen, step: ServiceStep): ServicePlan {
  const againInMs = graceLeftMs(seen)
  return againInMs === undefined ? { step } : { againInMs }
}

function announce(seen: ServiceSeen, service: Service, address: string): ServicePlan {
  const all = [...new Set([address, ...secondAddresses(seen)])]
  const kept = { address, users: seen.users(address) }
  const annotations = keptAnnotations(service, seen.requestAnnotations, kept)
  const status = all.length > 1 ? statusOfBoth(seen, service, all) : seen.announcer.request(address).status
  const request = { annotations, ...(status && { status }) }
  const isAnnotated = hasAnnotations(service, request.annotations)
  const isShown = !request.status || statusTexts(service).join() === statusTexts({ status: request.status }).join()
  // We may manage a field that the user's manifest contains.
  if (isAnnotated && isShown)
    return entriesWithSharedFields(service.metadata.managedFields).length > 0
      ? { step: { do: 'yield-fields' } }
      : settled
  const condition = status && conditionWith(seen, { ...service, status: { ...service.status, ...status } })
  return {
    step: { do: 'announce', request, ...(condition && { condition }), ...(all.length > 1 && { isShared: true }) },
  }
}

/** Our condition on a Service with its new status, if that makes the condition true: one write then carries both. */
function conditionWith({ wanted, record, others }: ServiceSeen, service: Service): ConditionFacts | undefined {
  const condition = wanted && shownCondition({ service, wanted, records: record ? [record, ...others] : others })
  return isSame(addressConditionOf(service), condition) ? undefined : condition
}

/**
 * The status with two addresses. An address that is already shown stays, as it would on its own. The other is added
 * when it may be shown.
 */
function statusOfBoth(
  { announcer }: ServiceSeen,
  service: Service,
  addresses: string[],
): AnnouncementRequest['status'] {
  const shown = ingressOf(service)
  const ingress = addresses.flatMap((address) => {
    const requested = announcer.request(address).status?.loadBalancer?.ingress
    return requested ?? shown.filter(({ ip }) => ip === address)
  })
  return { loadBalancer: { ingress } }
}
