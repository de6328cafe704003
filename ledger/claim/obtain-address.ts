// Steps 8 to 13 of a claim: from the record, on which this process may act, to the address.
import { CloudError, type Reservation } from '../../clouds/ports/cloud.ts'
import type { TimeLimit } from '../../lib/time-limit.ts'
import { claimSource, type SourceClaim, type SourceDeps } from '../available/claim-source.ts'
import { AddressInUse, findUsers } from '../record/address-use.ts'
import { claimKey, type ElasticIP, familyOf, reservationIdOf } from '../record/elastic-ip.ts'
import { adoptUnmarked, findReservation, takeNamed, unusableReason } from '../record/find-reservation.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { marksOf } from '../record/marks.ts'
import { isSource } from '../record/source.ts'
import type { ClaimResult } from './claim-spec.ts'
import type { LimitCheck } from './limits.ts'
import { holdSource, postpone, refuse, refuseOverLimit, storeReservation, useReservation } from './store-result.ts'
import type { Turnover } from './turnover.ts'
import { defined } from '../../lib/json.ts'

/** The policies that decide whether a record may have an address: available ones, limits and turnover. */
export type PolicyDeps = SourceDeps & { overLimit: LimitCheck; turnover: Turnover }

export type ObtainDeps = LedgerDeps & PolicyDeps

export type Task = {
  record: ElasticIP
  /** The record cannot have a reservation yet: there is none to look for before the reserve, none to keep on a refusal. */
  isFresh: boolean
  /** This claim created the record, and its Service shows no address: if the provider has none, none was ordered. */
  isNew?: boolean
  /** The available address that the record names, as it was when chosen. */
  source?: ElasticIP | undefined
}

/**
 * Steps 8 to 13: gets an address for a record on which this process may act, and stores the result. Only the time limit
 * interrupts this, no caller's deadline does: a bought address must reach the record.
 */
export async function obtainAddress(deps: ObtainDeps, task: Task, timeLimit: TimeLimit): Promise<ClaimResult> {
  let { record, isFresh } = task
  let isAbsent = false
  try {
    // 8. Use what an earlier request or a predecessor reserved. A record that names a source tries the source first.
    const search = async () => {
      const found = task.isFresh ? undefined : await findExisting(deps, record, timeLimit.signal)
      isAbsent = !task.isFresh && found === undefined
      isFresh ||= isAbsent && task.isNew === true
      return found
    }
    const existing = record.spec.source ? undefined : await search()
    if (typeof existing === 'string') return await refuse(deps, task, existing)
    if (existing) return await useReservation(deps, record, existing)
    // 9. Claim an available address: the named one, else a warm one, if any is left.
    const claimed: SourceClaim = isSource(record) ? { record } : await claimSource(deps, record, task.source)
    if ('reason' in claimed) return await refuse(deps, task, claimed.reason)
    record = claimed.record
    // 10. Check the limits now: a warm address is counted already, so its Service adds none. Check them every time:
    //     the process that created the record may have died before it did.
    const reason = (await deps.overLimit(record, new AbortController().signal)) ?? deps.turnover.countOrder(record)
    if (reason !== undefined)
      return await refuseOverLimit(deps, { isFresh, isAbsent, record, source: claimed.source }, reason)
    if (claimed.source) return await holdSource(deps, record, claimed.source)
    // 11. The source was deleted after all: make up for the search that step 8 skipped.
    const missed = task.record.spec.source ? await search() : undefined
    if (typeof missed === 'string') return await refuse(deps, task, missed)
    if (missed) return await useReservation(deps, record, missed)
    // 12. Once the time is over, other processes may have taken over, and only they may send a request.
    if (timeLimit.isOver()) return { kind: 'pending', reason: 'the provider was too slow; the controller tries again' }
    // 13. Reserve with a single call. It is never repeated blindly, unless the provider gives all attempts one address.
    return await reserve(deps, record, timeLimit.signal)
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    return answerFailure(deps, { record, isAbsent, isFresh, error }, timeLimit)
  }
}

async function reserve(deps: ObtainDeps, record: ElasticIP, signal: AbortSignal): Promise<ClaimResult> {
  const request = {
    location: record.spec.location ?? '',
    family: familyOf(record),
    marks: marksOf(deps.scheme, record),
    ...defined({ order: record.metadata.uid }),
  }
  return storeReservation(deps, record, await deps.cloud.reserve(request, signal))
}

function answerFailure(
  deps: ObtainDeps,
  { error, ...task }: { record: ElasticIP; isAbsent: boolean; isFresh: boolean; error: CloudError },
  timeLimit: TimeLimit,
): Promise<ClaimResult> {
  const { record } = task
  if (error.outcome === 'unknown') return recoverLost(deps, { record, error }, timeLimit)
  deps.turnover.giveBack(record)
  if (isFinal(error)) deps.turnover.noteRefusal(record)
  // The record of a warm address stays, and its status states the problem.
  return isFinal(error)
    ? refuse(deps, { ...task, fault: error.fault, isFresh: task.isFresh && !isSource(record) }, error.message)
    : postpone(deps, record, error)
}

/**
 * The reservation that an earlier request or a predecessor made for a record. Or why the record cannot have the
 * reservation that a person named in it.
 */
async function findExisting(
  deps: LedgerDeps,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<Reservation | string | undefined> {
  const found = (await findReservation(deps, record, signal)) ?? (await adoptUnmarked(deps, record, signal))
  const isNamed = found !== undefined && record.spec.reservationID === found.id
  if (!isNamed || record.status?.reservationID !== undefined) return found
  const reason = unusableReason(deps, record, found)
  if (reason !== undefined) return reason
  const all = await deps.possibleUsers(signal)
  const isDeleted = (other: ElasticIP) =>
    reservationIdOf(other) === found.id && other.status?.deletionRequestedAt !== undefined
  const { name } = record.metadata
  if (all.records.some((other) => other.metadata.name !== name && isDeleted(other)))
    return `reservation ${found.id} is being deleted; name another one`
  const used = { address: found.address, reservationID: found.id }
  const users = findUsers(used, all, { service: claimKey(record), records: [name] })
  if (users.length > 0) return new AddressInUse(used, users).message
  await takeNamed(deps, { record, found }, signal)
  return found
}

/**
 * Looks once for the reservation of a reserve whose answer was lost. If there is none, repeats the reserve once where
 * the provider gives all attempts one address. Later claims look again.
 */
async function recoverLost(
  deps: ObtainDeps,
  { record, error }: { record: ElasticIP; error: CloudError },
  timeLimit: TimeLimit,
): Promise<ClaimResult> {
  const { signal } = timeLimit
  try {
    const found = await findReservation(deps, record, signal)
    if (found) return await useReservation(deps, record, found)
    if (deps.cloud.isReserveIdempotent && !timeLimit.isOver()) return await reserve(deps, record, signal)
  } catch (unread) {
    if (!(unread instanceof CloudError)) throw unread
  }
  return postpone(deps, record, error)
}

/** Whether the provider certainly did nothing, and would refuse the same request again. */
function isFinal(error: CloudError): boolean {
  return error.outcome === 'nothing' && ['auth', 'quota', 'invalid'].includes(error.fault)
}
