import type { Announcer } from '../../announcers/announcer.ts'
import { type Service } from '../../kube/objects.ts'
import {
  type AddressKey,
  type ElasticIP,
  type ReclaimPolicy,
  addressKeyOf,
  familyOf,
  heldAddress,
  isSecond,
  phaseOf,
  provisionedSourceOf,
  secondKey,
} from '../../ledger/record/elastic-ip.ts'
import { protectedAnnotation, serviceFinalizer, withdrawingAnnotation } from '../../ledger/record/names.ts'
import { mayFindShown } from '../../ledger/record/records.ts'
import { statusAddresses, statusTextsOf } from '../../ledger/record/shown.ts'
import type { RequestAnnotations, ValuePolicy } from '../../settings/service-policy.ts'
import {
  annotatedReclaimPolicy,
  finalReclaimPolicy,
  isKeptByProtection,
  isRetainForbidden,
} from '../../ledger/want/reclaim.ts'
import { isSecondWanted } from '../../ledger/want/second-want.ts'
import type { Want } from '../../ledger/want/want.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { requestIdAnnotation } from '../../lib/request-id.ts'
import type { Announcement } from '../announcing/announcing.ts'
import type { ServiceStep } from './service-step.ts'

/** Everything that the plan for an address of a Service depends on. */
export type ServiceSeen = {
  key: AddressKey
  service: Service | undefined
  wanted: Want | undefined
  record: ElasticIP | undefined
  /** The record that has the address of this one rightly. */
  rival: ElasticIP | undefined
  /** The records of the other addresses of the Service: a first one has its second one's, and vice versa. */
  others: readonly ElasticIP[]
  announcer: Pick<Announcer, 'request' | 'withdrawal' | 'withdrawsOnlyOnDeletion'>
  requestAnnotations: RequestAnnotations
  /** The Services that use an address, as a cache has them. */
  users: (address: string) => readonly Service[]
  /** The values that annotations of Services may have. */
  policy: ValuePolicy
  /** How long we have seen the record unbound as it is now. */
  unboundForMs: number
  /** How long a reserved address waits for its Service: the Service may be rejected after we admitted it, or arrive late. */
  graceMs: number
  /** How long we have seen that the announcing software is asked to withdraw the address. */
  withdrawingForMs: number
  /**
   * Why the network may still learn the address that the next step frees; looked up only before such a step. `isTheirs`:
   * the records of the Services that show it hold the same reservation.
   */
  announcement: (Announcement & { isTheirs?: boolean }) | undefined
  /** The Service that gets the record when this one gives it up, by our caches. */
  heir: Service | undefined
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

/** The mark that tells one withdrawal from another; undefined while there is none. */
export function withdrawalState(
  service: Service | undefined,
  announcer: Pick<Announcer, 'withdrawal'>,
): string | undefined {
  if (!service || !isWithdrawalAsked(service, announcer)) return undefined
  return `${service.metadata.uid} ${service.metadata.deletionTimestamp}`
}

/**
 * The mark that tells when an unbound record was last written, without a look at its times; undefined for any other
 * record.
 */
export function unboundState(record: ElasticIP | undefined): string | undefined {
  if (!record || !isInGrace(record)) return undefined
  const { metadata, status } = record
  const { uid, annotations } = metadata
  return [
    uid,
    annotations?.[requestIdAnnotation],
    ...(status?.conditions ?? []).map((one) => `${one.type} ${one.lastTransitionTime}`),
  ].join()
}

/** Whether the Service has our finalizer. */
export function hasFinalizer({ metadata }: Service): boolean {
  return metadata.finalizers?.includes(serviceFinalizer) ?? false
}

/** Whether the Service has all these annotations. */
export function hasAnnotations({ metadata }: Service, annotations: Readonly<Record<string, string>>): boolean {
  return Object.entries(annotations).every(([name, value]) => metadata.annotations?.[name] === value)
}

/**
 * How long an unbound record still waits; undefined if it does not wait. Only admission may know the Service that the
 * record is for, or the change of the Service that needs it.
 */
export function graceLeftMs({ record, unboundForMs, graceMs }: ServiceSeen): number | undefined {
  return record && isInGrace(record) && unboundForMs < graceMs ? graceMs - unboundForMs : undefined
}

function isInGrace(record: ElasticIP): boolean {
  return phaseOf(record) === 'Requested' || phaseOf(record) === 'Reserved'
}

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

/**
 * The second addresses that a Service shows beside its first one. A name server relies on what is shown, so that stays while
 * the ledger looks for its reservation.
 *
 * | the record of a second address that it wants | it shows                             |
 * | -------------------------------------------- | ------------------------------------ |
 * | is bound to it                               | the address                          |
 * | holds an address, and is not bound yet       | the address, where it is shown       |
 * | is missing, or may yet find the address      | what is shown of that family         |
 * | any other                                    | none                                 |
 */
export function secondAddresses({ key, others, service, wanted, record: first }: ServiceSeen): string[] {
  if (!service || !wanted) return []
  const known = others
    .filter((record) => isSecond(record) && isSecondWanted(record, { service, wanted, first }))
    .flatMap((record) => secondAddressOf(record, service))
  const { family } = (wanted.kind === 'reserve' && wanted.second) || {}
  const isMissing = family && !others.some((record) => addressKeyOf(record) === secondKey(key, family))
  return isMissing ? [...known, ...statusTextsOf(service, family)] : known
}

function secondAddressOf(record: ElasticIP, service: Service): string[] {
  const held = heldAddress(record)
  if (held === undefined) return mayFindShown(record) ? statusTextsOf(service, familyOf(record)) : []
  const isBound = phaseOf(record) === 'Bound' && record.spec.claimRef?.uid === service.metadata.uid
  return isBound || statusAddresses(service).includes(canonicalIpAddress(held) ?? held) ? [held] : []
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
