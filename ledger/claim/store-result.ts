import { isDeepStrictEqual } from 'node:util'
import pRetry from 'p-retry'
import type { CloudError, Fault, Reservation } from '../../clouds/ports/cloud.ts'
import { isConflict, isNotFound, resultUnless } from '../../kube/errors.ts'
import type { Condition } from '../../kube/objects.ts'
import { makeAvailable } from '../available/claim-source.ts'
import { type ElasticIP, familyOf, heldAddress, provisionedSourceOf, reservationIdOf } from '../record/elastic-ip.ts'
import { hasFamily } from '../record/find-reservation.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { isRetained, lastingMarks } from '../record/marks.ts'
import { type StatusChange, assigned, condition } from '../record/status.ts'
import { notRequested, requestIdOf } from '../record/requests-in-flight.ts'
import { isAvailable, isSource } from '../record/source.ts'
import type { ClaimResult } from './claim-spec.ts'
import { defined } from '../../lib/json.ts'

/*
 * Stores the outcome of a request for an address, and makes it the result of the claim. No write here has a deadline.
 * The record must name the bought address, or say that the request is over, even if its caller no longer waits.
 */

/** Only their own time-outs end these calls. */
const noDeadline = new AbortController().signal

/** An address was bought, but no record has it: the next claim must look for it. */
export const unrecorded: ClaimResult = {
  kind: 'busy',
  reason: 'its record was removed while the provider answered',
}

/** Stores an existing reservation, which an earlier request may have made in another location. */
export async function useReservation(deps: LedgerDeps, record: ElasticIP, found: Reservation): Promise<ClaimResult> {
  const spec = specFor(record, found)
  const current = isDeepStrictEqual(spec, record.spec) ? record : await deps.records.writeSpec(record, spec)
  return storeReservation(deps, current, found)
}

/** The spec of a record for a reservation that was found. If the record that retained it is lost, the marks show it. */
function specFor(record: ElasticIP, { location, marks }: Reservation): ElasticIP['spec'] {
  // A warm address is found by its own marks. So it is in its record's location, spelled as Services spell it.
  if (isSource(record)) return record.spec
  const isPlaced = location === undefined || reservationIdOf(record) !== undefined
  const isRetainedByMarks = isRetained(marks) && provisionedSourceOf(record) === undefined
  return {
    ...record.spec,
    ...(isPlaced ? {} : { location }),
    ...(isRetainedByMarks && { reclaimPolicy: 'Retain' }),
  }
}

/** Stores how far a reservation has come: granted, requested or denied. */
export async function storeReservation(
  deps: LedgerDeps,
  record: ElasticIP,
  reservation: Reservation,
): Promise<ClaimResult> {
  const { id, address, state, marks } = reservation
  if (state === 'denied') {
    await deps.cloud.release({ id, marks: lastingMarks(marks) }, noDeadline)
    const message = 'the provider denied the request'
    const conditions = [notRequested('refused', { message, now: deps.now() })]
    await write(deps, record, { requestInFlight: null, reservationID: null, message, conditions })
    return { kind: 'refused', reason: `${deps.cloud.name} denied the request for an address`, retryAfterMs: 0 }
  }
  if (state === 'requested' || address === undefined) {
    const message = `${deps.cloud.name} has not granted the address yet`
    const conditions = notGranted({ reason: 'NotGranted', message, now: deps.now() })
    const change = { phase: 'Requested', reservationID: id, requestInFlight: null, message, conditions } as const
    const isStored = await write(deps, record, change)
    return isStored ? { kind: 'pending', reason: message, retryAfterMs: 0 } : lost(deps, record, reservation)
  }
  const problem = await deps.grantedProblem(record, reservation, noDeadline)
  if (problem !== undefined) return refuseGrant(deps, { record, reservation }, problem)
  const phase = isSource(record) ? 'Available' : 'Reserved'
  const facts = { reason: 'Granted', message: `reservation ${id}`, now: deps.now() }
  const stored = await write(deps, record, { phase, reservationID: id, address, ...granted(facts) })
  return stored ? resultOf(deps, stored, reservation) : lost(deps, record, reservation)
}

/** Reports a reservation whose record was removed while the provider answered. */
function lost({ log }: LedgerDeps, { metadata: { name } }: ElasticIP, { id, address }: Reservation): ClaimResult {
  log.warn({ record: name, address, reservation: id }, 'reserved, but its record was removed meanwhile')
  return unrecorded
}

/**
 * Stores why the provider's answer cannot be right. The reservation is kept, because its real state is unknown. If it
 * is older than the record, it was ordered for another one, perhaps in another family. Then this record orders its own.
 */
async function refuseGrant(
  deps: LedgerDeps,
  { record, reservation }: { record: ElasticIP; reservation: Reservation },
  problem: string,
): Promise<ClaimResult> {
  const isNamed = record.spec.reservationID !== undefined
  const isOthers = !isNamed && !hasFamily(reservation, familyOf(record)) && isOlder(reservation, record)
  const end = isOthers ? 'another one is ordered' : 'it stays reserved, and no Service gets it: contact the vendor'
  const message = `${deps.cloud.name} says that ${problem}; ${end}`
  deps.log.error({ record: record.metadata.name, reservation: reservation.id }, message)
  const conditions = notGranted({ reason: 'Unusable', message, now: deps.now() })
  const reservationID = isOthers ? null : reservation.id
  await write(deps, record, { phase: 'Requested', reservationID, requestInFlight: null, message, conditions })
  return { kind: 'pending', reason: message, retryAfterMs: 0 }
}

function isOlder({ createdAt = '' }: Reservation, { metadata }: ElasticIP): boolean {
  return Date.parse(createdAt) < Date.parse(metadata.creationTimestamp ?? '')
}

/** The result by the record's final state: other processes may have changed it while the provider was slow. */
function resultOf(deps: LedgerDeps, stored: ElasticIP, { id, address }: Reservation): ClaimResult {
  const facts = { record: stored.metadata.name, address, reservation: id }
  if (reservationIdOf(stored) === id) deps.log.info(facts, 'address reserved')
  else deps.log.warn(facts, 'reserved twice: this one is kept and paid for; the sweep reports it on the Service')
  const held = isAvailable(stored) ? address : heldAddress(stored)
  if (held === undefined) return { kind: 'pending', reason: 'another process has changed its record meanwhile' }
  return { kind: 'held', record: stored, address: held }
}

/**
 * Stores an available address that the record has claimed. Writes only to the version of the record that the source was
 * marked for. A conflict loses nothing: unlike a bought address, this one stays with its source.
 */
export async function holdSource(deps: LedgerDeps, record: ElasticIP, source: ElasticIP): Promise<ClaimResult> {
  const { address = '', reservationID } = source.status ?? {}
  const { name } = source.metadata
  const facts = { reason: 'Taken', message: `from ElasticIP ${name}`, now: deps.now() }
  const change: StatusChange = { phase: 'Reserved', address, ...defined({ reservationID }), ...granted(facts) }
  const stored = await deps.records.writeStatus(record, change)
  deps.log.info({ record: record.metadata.name, address, reservation: reservationID, from: name }, 'address claimed')
  return { kind: 'held', record: stored, address }
}

function granted(facts: { reason: string; message: string; now: Date }): StatusChange {
  const types = ['Accepted', 'Reserved'] as const
  const conditions = types.map((type) => condition(type, { status: 'True', ...facts }))
  return { requestInFlight: null, message: null, conditions }
}

/** The conditions of a record whose reservation has not granted its address. */
function notGranted(facts: { reason: string; message: string; now: Date }): Condition[] {
  const accepted = condition('Accepted', { ...facts, status: 'True', reason: 'Accepted' })
  return [accepted, condition('Reserved', { ...facts, status: 'False' })]
}

/** `isAbsent`: the provider was searched and has no reservation for the record. `fault`: the provider's refusal. */
type Refused = { record: ElasticIP; isFresh: boolean; isAbsent?: boolean; fault?: Fault }

/** Stores that there will be no address until a person changes something. */
export async function refuse(
  deps: LedgerDeps,
  { record, isFresh, isAbsent = false, fault }: Refused,
  reason: string,
): Promise<ClaimResult> {
  const request = notRequested(fault ?? 'refused', { message: reason, now: deps.now() })
  const conditions = isAbsent ? [request, notFound(deps)] : [request]
  // An older record may belong to a reserve whose answer was lost. It stays, and with it the trace of what that bought.
  if (isFresh) await deps.records.remove(record)
  else await write(deps, record, { requestInFlight: null, message: reason, conditions })
  return { kind: 'refused', reason, ...(fault !== undefined && { retryAfterMs: 0 }) }
}

/** An address that the Service still shows may be another customer's now: this condition makes the controller withdraw it. */
function notFound({ cloud, now }: LedgerDeps): Condition {
  return assigned('False', { reason: 'NotFound', message: `${cloud.name} has no address for it`, now: now() })
}

/** Stores that the address would exceed a limit, and frees the available address that the record claimed. */
export async function refuseOverLimit(
  deps: LedgerDeps,
  task: Refused & { source?: ElasticIP | undefined },
  reason: string,
): Promise<ClaimResult> {
  // If another process wrote the source, the controller sees that no record uses it, once our record is removed.
  if (task.source) await resultUnless(isConflict, makeAvailable(deps, task.source, noDeadline))
  return refuse(deps, task, reason)
}

/** Stores that the request must be repeated later. */
export async function postpone(deps: LedgerDeps, record: ElasticIP, error: CloudError): Promise<ClaimResult> {
  deps.log.warn({ record: record.metadata.name, fault: error.fault, error: error.message }, 'address not reserved yet')
  // The provider may still execute a call whose answer was lost: for every process, ours too, it is a request in flight.
  const requestInFlight =
    error.outcome === 'unknown' ? { sender: deps.identity, sentAt: deps.now().toISOString() } : null
  const { fault, message } = error
  const status = requestInFlight ? 'Unknown' : 'False'
  const conditions = [notRequested(fault, { message, status, now: deps.now() })]
  await write(deps, record, { phase: 'Requested', requestInFlight, message, conditions })
  return { kind: 'pending', reason: error.message, retryAfterMs: error.retryAfterMs ?? 0 }
}

/**
 * Writes the provider's answer over other processes' writes, and through a short outage of the API server. Undefined if
 * the record was removed meanwhile.
 */
function write(deps: LedgerDeps, record: ElasticIP, change: StatusChange): Promise<ElasticIP | undefined> {
  let current: ElasticIP | undefined = record
  const attempt = async () => {
    if (!current || !isStillDue(current, { record, change })) return current
    try {
      const due = current.status?.deletionRequestedAt ? reservationOnly(change) : change
      return await deps.records.writeStatus(current, due)
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) current = await readAgain(deps, record)
      throw error
    }
  }
  return pRetry(attempt, { retries: 8, minTimeout: 50, factor: 2, randomize: true })
}

/**
 * Whether a change still applies to the current record. A reservation applies until the record has another one or names
 * a source. A change about a request applies until another process has sent a new request.
 */
function isStillDue(current: ElasticIP, { record, change }: { record: ElasticIP; change: StatusChange }): boolean {
  if (!change.reservationID) return requestIdOf(current) === requestIdOf(record)
  const isSame = reservationIdOf(current) === change.reservationID
  // Another process has stored its address since, and perhaps the Service that has it.
  if (isSame && current !== record && current.status?.address !== undefined) return false
  return isSame || (reservationIdOf(current) === reservationIdOf(record) && current.spec.source === undefined)
}

/**
 * The part of a change that applies to a record that is being released. No Service may get its address, but the record
 * must name its reservation; a change that names none leaves it.
 */
function reservationOnly({ reservationID }: StatusChange): StatusChange {
  return reservationID ? { reservationID } : {}
}

async function readAgain(deps: LedgerDeps, record: ElasticIP): Promise<ElasticIP | undefined> {
  const stored = await deps.records.get(record.metadata.name)
  return stored?.metadata.uid === record.metadata.uid ? stored : undefined
}
