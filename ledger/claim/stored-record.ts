import {
  type ElasticIP,
  type ReclaimPolicy,
  familyOf,
  isUnbound,
  phaseOf,
  provisionedSourceOf,
  reservationIdOf,
} from '../record/elastic-ip.ts'
import { familyNames } from '../../lib/ip-address.ts'
import { currentRequestId, requestIdAnnotation } from '../../lib/request-id.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { droppedRequestAnnotation, elasticIPAnnotation, protectedAnnotation } from '../record/names.ts'
import { isBeingRemoved } from '../record/records.ts'
import { assigned, type StatusChange, condition } from '../record/status.ts'
import { isAnswerLost } from '../record/requests-in-flight.ts'
import { isClaimedBy } from '../record/source.ts'
import { type Claim, type ClaimResult, busy, namedSource } from './claim-spec.ts'

/**
 * The result that an existing record gives a claim of its Service, `busy` included. Undefined if the claim may take the
 * record over: it has no address yet, and no process works on it.
 */
export async function answerFromRecord(
  deps: LedgerDeps,
  { record, claim }: { record: ElasticIP; claim: Claim },
  signal: AbortSignal,
): Promise<ClaimResult | undefined> {
  const mismatch = mismatchOf(record, claim)
  // If a record that does not fit is in use or being deleted, the controller releases it, and the claim then gets
  // another one.
  if (mismatch !== undefined) return hasUnusedAddress(record) ? { kind: 'refused', reason: mismatch } : busy
  const held = await holdStored(deps, { record, claim }, signal)
  if (held) return held
  if (phaseOf(record) !== 'Requested' || isBeingRemoved(record) || mustWait(deps, record, claim)) return busy
  if (familyOf(record) !== claim.family) return { kind: 'pending', reason: formerFamily(record) }
  return (await isSourceBeingReturned(deps, { record, claim }, signal)) ? busy : undefined
}

/**
 * Whether a request in flight blocks the next one. If the provider gives all attempts of an order one address, an order
 * whose answer was lost may be repeated. A claim of a named ElasticIP does not repeat it.
 */
export function mustWait(
  { cloud, requestsInFlight }: Pick<LedgerDeps, 'cloud' | 'requestsInFlight'>,
  record: ElasticIP,
  { elasticIP }: Pick<Claim, 'elasticIP'> = {},
): boolean {
  const isRepetition = cloud.isReserveIdempotent === true && elasticIP === undefined && isAnswerLost(record)
  return requestsInFlight.isInFlight(record) && !isRepetition
}

/** Why the address of a record does not match what a claim requests; undefined if it may. */
export function mismatchOf(record: ElasticIP, claim: Claim): string | undefined {
  return sourceMismatch(record, claim) ?? familyMismatch(record, claim) ?? locationMismatch(record, claim)
}

/**
 * Makes this process the sender of the next request for an unanswered record. A process that tries at the same time
 * gets a conflict. The caller's deadline ends neither write: all processes wait for a request once the record names it.
 */
export async function takeOverRecord(deps: LedgerDeps, record: ElasticIP, claim: Claim): Promise<ElasticIP> {
  const isNamed = claim.elasticIP !== undefined
  const { source: sourceRef, location: former = '', reservationID, ...rest } = record.spec
  const location = reservationIdOf(record) === undefined ? (claim.location ?? former) : former
  const source = namedSource(claim) ?? (sourceRef?.type === 'Provisioned' ? undefined : sourceRef)
  const noted = isNamed && sourceRef?.type !== 'Provisioned' ? noteDropped(record, deps.now()) : record
  const current = await deps.records.writeSpec(noted, {
    ...rest,
    ...(location === '' ? {} : { location }),
    ...(reservationID === undefined || isNamed ? {} : { reservationID }),
    ...(source ? { source } : {}),
    reclaimPolicy: reclaimPolicyFor(record, claim),
  })
  const requestInFlight = { sender: deps.identity, sentAt: deps.now().toISOString() }
  // If the provider still grants an address for an earlier request, the address is an orphan: the sweep releases it.
  const dropped = isNamed ? { reservationID: null } : {}
  return deps.records.writeStatus(current, { phase: 'Requested', requestInFlight, ...dropped })
}

/**
 * The record's reclaim policy, which a person may have changed. An ElasticIP's address returns to it, so the policy of
 * a record that borrows one means nothing.
 */
function reclaimPolicyFor(record: ElasticIP, { reclaim = 'Delete', isReclaimStated, elasticIP }: Claim): ReclaimPolicy {
  const isLent = elasticIP !== undefined || provisionedSourceOf(record) !== undefined
  return isReclaimStated || isLent ? reclaim : record.spec.reclaimPolicy
}

/** Notes that an earlier request may have bought an unwanted address, so that the sweep may release it. */
function noteDropped(record: ElasticIP, now: Date): ElasticIP {
  const annotations = { ...record.metadata.annotations, [droppedRequestAnnotation]: now.toISOString() }
  return { ...record, metadata: { ...record.metadata, annotations } }
}

/** Why the record's address does not fit: it is an ElasticIP's, and the Service names another or none; or vice versa. */
function sourceMismatch(record: ElasticIP, { elasticIP }: Claim): string | undefined {
  const { address } = record.status ?? {}
  const source = provisionedSourceOf(record)
  if (address === undefined || source === elasticIP) return undefined
  const kept = source === undefined ? address : `${address} of ElasticIP ${source}`
  const requested = elasticIP === undefined ? 'no ElasticIP is named' : `ElasticIP ${elasticIP} is named`
  const change =
    source === undefined
      ? `remove annotation ${elasticIPAnnotation}`
      : `set annotation ${elasticIPAnnotation} to ${source}`
  return `${kept} is kept for it, but ${requested}; ${change}, or ${releaseHint(record)}`
}

/** Why the record's address does not fit: it is of the other family. */
function familyMismatch(record: ElasticIP, { family }: Claim): string | undefined {
  const { address } = record.status ?? {}
  if (address === undefined || familyOf(record) === family) return undefined
  return `${address} is kept for it, but it requests an ${familyNames[family]} address; ${releaseHint(record)}`
}

/** Why a claim must wait: the order in the other family is found and released first. */
function formerFamily(record: ElasticIP): string {
  const former = `an ${familyNames[familyOf(record)]} address was ordered for an earlier Service of this name`
  return `${former}, and is released first; to have that done now, ${releaseHint(record)}`
}

/** Why the record's address does not fit: no Service uses it, and it is not in the requested location. */
function locationMismatch(record: ElasticIP, { location: requested }: Claim): string | undefined {
  const { address } = record.status ?? {}
  const { location } = record.spec
  const isKept = !hasUnusedAddress(record) && phaseOf(record) !== 'Releasing'
  if (isKept || address === undefined || requested === undefined || location === undefined) return undefined
  if (location === requested) return undefined
  const change = `change that to ${location}, or ${releaseHint(record)}`
  return `${address} is kept for it in ${location}, but it requests one in ${requested}; ${change}`
}

function releaseHint({ metadata }: ElasticIP): string {
  return `release the address: \`kubectl delete eip ${metadata.name}\``
}

/** Whether no stored Service uses the record's address. */
function hasUnusedAddress(record: ElasticIP): boolean {
  return phaseOf(record) === 'Released' || (phaseOf(record) === 'Reserved' && isUnbound(record))
}

/**
 * Makes the address of a record the result if it is held, retained, or being released but not yet deleted at the
 * provider. Until its Service is stored, nothing else protects the address. So the record is written, which fails any
 * release that has read it before.
 */
export async function holdStored(
  deps: LedgerDeps,
  { record, claim }: { record: ElasticIP; claim: Claim },
  signal: AbortSignal,
): Promise<ClaimResult | undefined> {
  const phase = phaseOf(record)
  const { address, deletionRequestedAt } = record.status ?? {}
  // A review reads what its client sent, not what is stored.
  const isStored = !claim.wait && (claim.isShown || phase === 'Reserved')
  const isHeld = phase === 'Bound' || phase === 'Reserved'
  if (address === undefined) return undefined
  if (isHeld && isStored) return { kind: 'held', record, address }
  if (!isHeld && phase !== 'Released' && (phase !== 'Releasing' || deletionRequestedAt)) return undefined
  if (isBeingRemoved(record)) return undefined
  const written = phase === 'Reserved' ? noteRequest(deps, record, signal) : reserveAgain(deps, record, signal)
  return { kind: 'held', record: await written, address }
}

/** Notes the request for which an unbound record is held. Each request has its own id, so this changes the record. */
function noteRequest(deps: LedgerDeps, record: ElasticIP, signal: AbortSignal): Promise<ElasticIP> {
  const { metadata, spec } = record
  const request = currentRequestId() ?? deps.now().toISOString()
  const annotations = { ...metadata.annotations, [requestIdAnnotation]: request }
  return deps.records.writeSpec({ ...record, metadata: { ...metadata, annotations } }, spec, { signal })
}

function reserveAgain(deps: LedgerDeps, record: ElasticIP, signal: AbortSignal): Promise<ElasticIP> {
  const facts = { reason: 'Claimed', message: 'its Service is not stored yet', now: deps.now() }
  return deps.records.writeStatus(record, { phase: 'Reserved', conditions: [assigned('Unknown', facts)] }, { signal })
}

/** Whether the record claimed the named source for an earlier Service: that claim must end before the next one begins. */
async function isSourceBeingReturned(
  deps: LedgerDeps,
  { record, claim: { elasticIP } }: { record: ElasticIP; claim: Claim },
  signal: AbortSignal,
): Promise<boolean> {
  if (elasticIP === undefined || record.spec.source?.name === elasticIP) return false
  const source = await deps.records.get(elasticIP, { signal })
  return source !== undefined && isClaimedBy(source, record)
}

/** Records which stored Service holds an address: first its uid, then the phase. */
export async function bind(
  deps: Pick<LedgerDeps, 'records' | 'now'>,
  { record, uid }: { record: ElasticIP; uid: string },
  signal: AbortSignal,
): Promise<void> {
  const { claimRef } = record.spec
  if (!claimRef) throw new Error(`ElasticIP ${record.metadata.name} is for no Service`)
  const claimed =
    claimRef.uid === uid
      ? record
      : await deps.records.writeSpec(record, { ...record.spec, claimRef: { ...claimRef, uid } }, { signal })
  await deps.records.writeStatus(claimed, bound(deps, claimRef), { signal })
}

/** Records the reclaim policy that the Service requests now. */
export async function setReclaimPolicy(
  deps: Pick<LedgerDeps, 'records'>,
  { record, reclaim }: { record: ElasticIP; reclaim: ReclaimPolicy },
  signal: AbortSignal,
): Promise<void> {
  await deps.records.writeSpec(record, { ...record.spec, reclaimPolicy: reclaim }, { signal })
}

/**
 * Records whether the Service is protected: after an uninstall it may be deleted while no controller sees its
 * annotation.
 */
export async function noteProtection(
  deps: Pick<LedgerDeps, 'records'>,
  { record, isProtected }: { record: ElasticIP; isProtected: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { [protectedAnnotation]: _former, ...others } = record.metadata.annotations ?? {}
  const annotations = isProtected ? { ...others, [protectedAnnotation]: 'true' } : others
  await deps.records.writeSpec({ ...record, metadata: { ...record.metadata, annotations } }, record.spec, { signal })
}

/** Records on a provisioned address that a stored Service holds it. */
export async function bindSource(
  deps: Pick<LedgerDeps, 'records' | 'now'>,
  source: ElasticIP,
  signal: AbortSignal,
): Promise<void> {
  await deps.records.writeStatus(source, bound(deps, source.spec.claimRef ?? { namespace: '', name: '' }), { signal })
}

function bound({ now }: Pick<LedgerDeps, 'now'>, service: { namespace: string; name: string }): StatusChange {
  const message = `Service ${service.namespace}/${service.name}`
  const facts = { status: 'True', reason: 'OnService', message, now: now() } as const
  return { phase: 'Bound', message: null, conditions: [condition('Assigned', facts)] }
}
