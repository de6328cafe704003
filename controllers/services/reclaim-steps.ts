import { type ElasticIP, type ReclaimPolicy, phaseOf, provisionedSourceOf } from '../../ledger/record/elastic-ip.ts'
import { protectedAnnotation } from '../../ledger/record/names.ts'
import {
  annotatedReclaimPolicy,
  finalReclaimPolicy,
  isKeptByProtection,
  isRetainForbidden,
} from '../../ledger/want/reclaim.ts'
import type { ServiceStep } from './service-step.ts'
import type { ServiceSeen } from './service-state.ts'

/**
 * The reclaim policy on the Service itself, whatever else is wrong with it. Without one the record's policy counts, which
 * a person may have changed. The administrator decides about an address that an ElasticIP lends.
 */
function statedReclaimPolicy(seen: ServiceSeen): ReclaimPolicy | undefined {
  const { service, policy } = seen
  return service && !isLent(seen) ? annotatedReclaimPolicy(service, policy) : undefined
}

/** The same when the Service gives the address up. */
function lastReclaimPolicy(seen: ServiceSeen): ReclaimPolicy | undefined {
  const { service, policy } = seen
  return service && !isLent(seen) ? finalReclaimPolicy(service, policy) : undefined
}

function isLent({ wanted, record }: ServiceSeen): boolean {
  return wanted?.kind === 'named' || (record !== undefined && provisionedSourceOf(record) !== undefined)
}

/** The step that ends a Service's hold on an address, by the reclaim policy. */
export function releaseOrRetain(record: ElasticIP, reclaim: ReclaimPolicy = record.spec.reclaimPolicy): ServiceStep {
  return reclaim === 'Retain' && record.status?.address ? { do: 'retain', record } : { do: 'release', record }
}

/**
 * The step by which a Service gives an address up. Where its record lost the address, only a release finds it. That asks
 * only the record for its fate, so the Service's policy is written down before.
 */
export function giveUp(seen: ServiceSeen, record: ElasticIP): ServiceStep {
  const noted = record.status?.address === undefined ? noteLastPolicy(seen, record) : undefined
  return noted ?? releaseOrRetain(record, lastReclaimPolicy(seen))
}

/** Writes a departing Service's policy into the record, which then decides by itself; undefined if it says so. */
export function noteLastPolicy(seen: ServiceSeen, record: ElasticIP): ServiceStep | undefined {
  if (phaseOf(record) === 'Released') return undefined
  // Its user may have ended the protection a moment before.
  const isOutdated = wasProtected(record) && !isProtected(seen)
  return noteReclaim(record, lastReclaimPolicy(seen)) ?? (isOutdated ? noteProtection(seen, record) : undefined)
}

/** Writes what a live Service says about the end of its address into the record that holds it; undefined if it says so. */
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

function isProtected(seen: ServiceSeen): boolean {
  const { service, policy } = seen
  return service !== undefined && !isLent(seen) && isKeptByProtection(service, policy)
}

function wasProtected({ metadata }: ElasticIP): boolean {
  return metadata.annotations?.[protectedAnnotation] === 'true'
}

/** Makes the address of a Service that went unseen one to retain, if the Service was protected; undefined if it is one. */
export function noteUnseenEnd({ policy }: ServiceSeen, record: ElasticIP): ServiceStep | undefined {
  const isKept = wasProtected(record) && !isRetainForbidden('Retain', policy)
  return isKept ? noteReclaim(record, 'Retain') : undefined
}
