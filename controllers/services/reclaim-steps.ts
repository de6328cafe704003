import { type ElasticIP, type ReclaimPolicy, phaseOf, provisionedSourceOf } from '../../ledger/record/elastic-ip.ts'
import { protectedAnnotation } from '../../ledger/record/names.ts'
import {
  annotatedReclaimPolicy,
  finalReclaimPolicy,
  isKeptByProtection,
  isRetainForbidden,
} from '../../ledger/want/reclaim.ts'
import type { Service } from '../../kube/objects.ts'
import type { ValuePolicy } from '../../settings/service-policy.ts'
import type { ServiceStep } from './service-step.ts'
import type { ServiceSeen } from './service-state.ts'

/**
 * The reclaim policy on the Service itself, whatever else is wrong with it. Without one the record's policy applies,
 * which a person may have changed.
 */
const statedReclaimPolicy = (seen: ServiceSeen) => decidedBy(seen, annotatedReclaimPolicy)

/** The same at the moment when the Service gives up the address. */
const lastReclaimPolicy = (seen: ServiceSeen) => decidedBy(seen, finalReclaimPolicy)

const isProtected = (seen: ServiceSeen) => decidedBy(seen, isKeptByProtection) ?? false

/** The Service's own decision; undefined for an address that an ElasticIP lends, because the operator decides there. */
function decidedBy<Decided>(
  seen: ServiceSeen,
  decide: (service: Service, policy: ValuePolicy) => Decided,
): Decided | undefined {
  const { service, policy } = seen
  return service && !isLent(seen) ? decide(service, policy) : undefined
}

function isLent({ wanted, record }: ServiceSeen): boolean {
  return wanted?.kind === 'named' || (record !== undefined && provisionedSourceOf(record) !== undefined)
}

/** The step that ends a Service's hold on an address, by the reclaim policy. */
export function releaseOrRetain(record: ElasticIP, reclaim: ReclaimPolicy = record.spec.reclaimPolicy): ServiceStep {
  return reclaim === 'Retain' && record.status?.address ? { do: 'retain', record } : { do: 'release', record }
}

/**
 * The step with which a Service gives up an address. Only a release finds an address that the record lost. A release
 * reads the policy only from the record, so the Service's policy is noted first.
 */
export function giveUp(seen: ServiceSeen, record: ElasticIP): ServiceStep {
  const noted = record.status?.address === undefined ? noteLastPolicy(seen, record) : undefined
  return noted ?? releaseOrRetain(record, lastReclaimPolicy(seen))
}

/**
 * Writes a departing Service's policy into the record, which then decides alone; undefined if it has the policy
 * already.
 */
export function noteLastPolicy(seen: ServiceSeen, record: ElasticIP): ServiceStep | undefined {
  if (phaseOf(record) === 'Released') return undefined
  // Its user may have just ended the protection.
  const isOutdated = wasProtected(record) && !isProtected(seen)
  return noteReclaim(record, lastReclaimPolicy(seen)) ?? (isOutdated ? noteProtection(seen, record) : undefined)
}

/**
 * Writes a live Service's policy and protection into the record that holds its address; undefined if it has both
 * already.
 */
export function notePolicy(seen: ServiceSeen, record: ElasticIP): ServiceStep | undefined {
  return noteReclaim(record, statedReclaimPolicy(seen)) ?? noteProtection(seen, record)
}

function noteReclaim(record: ElasticIP, reclaim: ReclaimPolicy | undefined): ServiceStep | undefined {
  const isNoted = reclaim === undefined || record.spec.reclaimPolicy === reclaim
  return isNoted ? undefined : { do: 'set-reclaim-policy', record, reclaim }
}

function noteProtection(seen: ServiceSeen, record: ElasticIP): ServiceStep | undefined {
  const isNow = isProtected(seen)
  return isNow === wasProtected(record) ? undefined : { do: 'note-protection', record, isProtected: isNow }
}

function wasProtected({ metadata }: ElasticIP): boolean {
  return metadata.annotations?.[protectedAnnotation] === 'true'
}

/** Marks the address of a protected Service that vanished unseen to be retained; undefined if there is no need. */
export function noteUnseenEnd({ policy }: ServiceSeen, record: ElasticIP): ServiceStep | undefined {
  const isKept = wasProtected(record) && !isRetainForbidden('Retain', policy)
  return isKept ? noteReclaim(record, 'Retain') : undefined
}
