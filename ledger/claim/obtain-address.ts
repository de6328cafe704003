// Steps 8 to 13 of a claim: from a record that this process may act on to the address.
import { CloudError, type Reservation } from '../../clouds/ports/cloud.ts'
import type { TimeLimit } from '../../lib/time-limit.ts'
import { claimSource, inUseBy, type SourceClaim, type SourceDeps } from '../available/claim-source.ts'
import { claimKey, type ElasticIP, familyOf } from '../record/elastic-ip.ts'
import { adoptUnmarked, findReservation } from '../record/find-reservation.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { marksOf } from '../record/marks.ts'
import { isSource } from '../record/source.ts'
import { takeNamed, unusableReason } from '../record/unusable-reservation.ts'
import type { ClaimResult } from './claim-spec.ts'
import type { LimitCheck } from './limits.ts'
import { holdSource, postpone, refuse, refuseOverLimit, storeReservation, useReservation } from './store-result.ts'
import type { Turnover } from './turnover.ts'

/** The parts that decide whether a record may have an address: the available ones, limits and turnover. */
export type PolicyDeps = SourceDeps & { overLimit: LimitCheck; turnover: Turnover }

export type ObtainDeps = LedgerDeps & PolicyDeps

export type Task = {
  record: ElasticIP
  /** No reservation for the record can exist yet: none to look for before we reserve, none to keep when we are refused. */
  isFresh: boolean
  /** This claim has created the record, and its Service shows no address: if the cloud then has none, none was ordered. */
  isNew?: boolean
  /** The available address that the record names, as it was when it was chosen. */
  source?: ElasticIP | undefined
}

/**
 * Steps 8 to 13: get an address for a record that this process may act on, and store the result. No caller's deadline
 * interrupts this, only the time limit does: a bought address must reach the record.
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
    // 10. Check the limits. Not earlier, for a warm address is counted already and its Service adds none. And every time,
    //     for the process that created the record may have died before it checked them.
    const reason = (await deps.overLimit(record, new AbortController().signal)) ?? deps.turnover.countOrder(record)
    if (reason !== undefined)
      return await refuseOverLimit(deps, { isFresh, isAbsent, record, source: claimed.source }, reason)
    if (claimed.source) return await holdSource(deps, record, claimed.source)
    // 11. The source was deleted after all: make up for the search that step 8 left out.
    const missed = task.record.spec.source ? await search() : undefined
    if (typeof missed === 'string') return await refuse(deps, task, missed)
    if (missed) return await useReservation(deps, record, missed)
    // 12. When the time is over other processes may have taken over, and only they may send a request.
    if (timeLimit.isOver()) return { kind: 'pending', reason: 'the provider was too slow; the controller tries again' }
    // 13. Reserve: a single call. It is never repeated blindly, unless the cloud gives all attempts the same address.
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
    ...(record.metadata.uid !== undefined && { order: record.metadata.uid }),
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
  // The record of a warm address stays, and its status says what is wrong.
  return isFinal(error)
    ? refuse(deps, { ...task, fault: error.fault, isFresh: task.isFresh && !isSource(record) }, error.message)
    : postpone(deps, record, error)
}

/**
 * The reservation that an earlier request or a predecessor made for a record. Or why the record cannot have the reservation
 * that a person wrote into it.
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
  const used = { address: found.address, reservationID: found.id }
  const names = [record.metadata.name]
  const error = await inUseBy(deps, { used, key: claimKey(record), names }, signal)
  if (error) return error.message
  await takeNamed(deps, { record, found }, signal)
  return found
}

/**
 * Looks once whether a reserve whose answer was lost was carried out. If this is not seen, it is repeated once where the
 * cloud gives all attempts one address, and later claims look again.
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

/** The cloud certainly did nothing, and would refuse the same request again. */
function isFinal(error: CloudError): boolean {
  return error.outcome === 'nothing' && ['auth', 'quota', 'invalid'].includes(error.fault)
}
