// The next step for a Service and its record: a removal, as removal-plan.ts says, or an address, as address-plan.ts
// says. second-plan.ts plans a second address. If none of them has a step, a record with an address gets our finalizer
// if it lacks it: hold-record. Then the status is written for the newest spec: observe-record.
//
// A step that frees an address waits until the network can no longer learn it. The first row that applies decides.
//
//   the step                     | and the address                                  | plan
//   -----------------------------+--------------------------------------------------+---------------------------------
//   release                      | may have another holder: its deletion was sent   | release
//   any                          | can no longer be learned by the network         | release, retain, recover-records
//                                |                                                  | or remove-finalizers
//   release                      | is of a reservation that another record holds    | release
//   any                          | is announced by the machine of a deleted Node    | report-wait
//   any                          | is announced by this Service or the configuration| wait
//   release                      | is announced by others, of which one is its heir | release, which passes it on
//   release of a lent address    | is announced by others of the namespace          | release
//   retain                       | is announced by others of the namespace          | retain
//   release, retain              | is announced by others                           | report-shared
//   the last one                 | is announced by others                           | recover-records
//                                |                                                  | or remove-finalizers
import { type Key, type Service, splitKey } from '../../kube/objects.ts'
import {
  heldAddress,
  isSecondKey,
  phaseOf,
  provisionedSourceOf,
  serviceOfAddress,
} from '../../ledger/record/elastic-ip.ts'
import { isUnobserved } from '../../ledger/record/status.ts'
import { lacksFinalizer } from '../../ledger/record/records.ts'
import { statusAddresses } from '../../ledger/record/address-use.ts'
import type { Want } from '../../ledger/want/want.ts'
import { isWanted } from '../../ledger/want/wanted.ts'
import { planHeldAddress, planOwnAddress, planReservedAddress } from './address-plan.ts'
import {
  postponeUntilDeletion,
  isReleasePostponed,
  planNoAddress,
  planRemoval,
  planWithdrawal,
  planWithoutService,
} from './removal-plan.ts'
import type { Announcement } from '../announcing/announcing.ts'
import { planSecond } from './second-plan.ts'
import { type ServiceSeen, hasFinalizer } from './service-state.ts'
import { type ServicePlan, type ServiceStep, settled } from './service-step.ts'

/** How soon we check again whether the network has forgotten an address. */
const announcedPollMs = 500

/** The next step from what is seen to what is wanted, for one Service and its record. Pure. */
export function planService(seen: ServiceSeen): ServicePlan {
  const plan = planWithoutNetwork(seen)
  return plan.step && seen.announcement ? planAnnounced(plan.step, seen) : plan
}

/** The address that the next step frees, if any: only then does the plan depend on announcements. */
export function addressToFree(seen: Omit<ServiceSeen, 'announcement'>): string | undefined {
  const { step } = planWithoutNetwork({ ...seen, announcement: undefined })
  return step && freedAddress(step, seen.service)
}

/**
 * The address that a step frees. It was not announced when its deletion was requested. If that answer was lost, the
 * provider may have given the address to another Service since, so the release asks the provider.
 */
function freedAddress(step: ServiceStep, service: Service | undefined): string | undefined {
  if (step.do === 'release' && step.record.status?.deletionRequestedAt !== undefined) return undefined
  if (step.do === 'release' || step.do === 'retain') return step.record.status?.address
  return isLast(step) ? service?.spec.loadBalancerIP : undefined
}

/** Plans a step that frees an announced address. Another Service that shares the address keeps it reserved. */
function planAnnounced(step: ServiceStep, seen: ServiceSeen): ServicePlan {
  const { key, service, announcement } = seen
  const address = freedAddress(step, service)
  if (address === undefined || !announcement) return { step }
  // The reservation stays theirs, and only our record is removed.
  if (step.do === 'release' && announcement.isTheirs) return { step }
  const others = announcement.services.filter((other) => other !== serviceOfAddress(key))
  if (others.length === 0) return planWait(announcement)
  const shared = planShared(step, seen, others)
  if (shared) return { step: shared }
  return { step: isLast(step) ? step : { do: 'report-shared', address, services: others } }
}

/** The step with which a Service gives up an address that others keep using; undefined while it cannot. */
function planShared(
  step: ServiceStep,
  { key, heir, announcement }: ServiceSeen,
  others: Key[],
): ServiceStep | undefined {
  if (step.do === 'release' && heir) return { ...step, isAnnounced: true }
  const { namespace } = splitKey(key)
  if (announcement?.isTheirs || others.some((other) => splitKey(other).namespace !== namespace)) return undefined
  // A lent address stays with its ElasticIP, and a retained one with the Service's name.
  if (step.do === 'release' && provisionedSourceOf(step.record) !== undefined) return { ...step, isAnnounced: true }
  return step.do === 'retain' ? step : undefined
}

function planWait({ waitMs = announcedPollMs, reason }: Announcement): ServicePlan {
  return reason === undefined ? { againInMs: waitMs } : { step: { do: 'report-wait', reason, againInMs: waitMs } }
}

function isLast({ do: name }: ServiceStep): boolean {
  return name === 'remove-finalizers' || name === 'recover-records'
}

function planWithoutNetwork(seen: ServiceSeen): ServicePlan {
  if (seen.record && seen.rival) return { step: { do: 'correct-record', record: seen.record, rival: seen.rival } }
  const plan = isSecondKey(seen.key) ? planSecond(seen) : postponeUntilDeletion(planByWant(seen), seen)
  const { record } = seen
  if (plan.step || !record) return plan
  if (lacksFinalizer(record)) return { step: { do: 'hold-record', record } }
  return isUnobserved(record) ? { step: { do: 'observe-record', record } } : plan
}

function planByWant(seen: ServiceSeen): ServicePlan {
  const { service, wanted, record } = seen
  if (record && phaseOf(record) === 'Releasing' && !isReleasePostponed(seen, record)) {
    return { step: { do: 'release', record } }
  }
  if (!service || !wanted) return record ? planWithoutService(seen, record) : settled
  if (service.metadata.deletionTimestamp) return planRemoval(seen, service)
  switch (wanted.kind) {
    case 'ignored':
      return settled
    case 'foreign':
      return record && isWanted(record, wanted) ? settled : planNoAddress(seen, service)
    case 'nothing':
    // A managed balancer serves it, so it needs no address from us.
    case 'managed':
      return planNoAddress(seen, service)
    case 'wrong':
      return planWrong(seen, service, wanted)
    case 'own':
      return planOwnAddress(seen, service, wanted)
    case 'reserve':
    case 'named':
      return planReservedAddress(seen, service, wanted)
  }
}

/** A Service that has its address keeps it, whatever a person has since written on it or in the settings. */
function planWrong(seen: ServiceSeen, service: Service, wanted: Extract<Want, { kind: 'wrong' }>): ServicePlan {
  const { record } = seen
  if (record && heldAddress(record) !== undefined) return planHeldAddress(seen, service, record)
  const { problems, forbiddenAddress } = wanted
  // Without our finalizer only another program can have written it.
  const isShown = forbiddenAddress !== undefined && statusAddresses(service).includes(forbiddenAddress)
  if (isShown && hasFinalizer(service)) return planWithdrawal(seen, service)
  return { step: { do: 'report-problems', problems } }
}
