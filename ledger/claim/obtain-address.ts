import { CloudError } from '../../clouds/ports/cloud.ts'
import type { TimeLimit } from '../../lib/time-limit.ts'
import { type SourceClaim, claimSource } from '../available/claim-source.ts'
import type { ElasticIP } from '../record/elastic-ip.ts'
import { findReservation, marksOf } from '../record/find-reservation.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { isSource } from '../record/source.ts'
import type { ClaimResult } from './claim-spec.ts'
import { findExisting } from './existing-reservation.ts'
import type { PreviewDeps } from './preview.ts'
import { holdSource, postpone, refuse, refuseOverLimit, storeReservation, useReservation } from './store-result.ts'

export type ClaimDeps = LedgerDeps &
  PreviewDeps & {
    /** Whether every reservation with our marks has a record, so that no record means no reservation. */
    isAdopted: (signal: AbortSignal) => Promise<boolean>
    /** Why no claim may reach the cloud now: another cluster uses our id. */
    haltReason: (signal: AbortSignal) => Promise<string | undefined>
    /** Starts the time that one claim may spend at the cloud; other processes wait longer before they take over. */
    timeLimit: () => TimeLimit
  }

export type Task = {
  record: ElasticIP
  /** No reservation for the record can exist yet: none to look for before we reserve, none to keep when we are refused. */
  isFresh: boolean
  /** The available address that the record names, as it was when it was chosen. */
  source?: ElasticIP | undefined
}

/**
 * The way of a claim, steps 8 to 13: get an address for a record that this process may act on, and store the result.
 * No caller's deadline interrupts this, only the time limit does: what was bought must reach the record.
 */
export async function obtainAddress(deps: ClaimDeps, task: Task, timeLimit: TimeLimit): Promise<ClaimResult> {
  let { record } = task
  try {
    // 8. Use what an earlier request or a predecessor reserved. A record that names a source tries the source first.
    const search = async () => (task.isFresh ? undefined : findExisting(deps, record, timeLimit.signal))
    const existing = record.spec.source ? undefined : await search()
    if (typeof existing === 'string') return await refuse(deps, task, existing)
    if (existing) return await useReservation(deps, record, existing)
    // 9. Claim an available address: the named one, else a warm one, if any is left.
    const claimed: SourceClaim = isSource(record) ? { record } : await claimSource(deps, record, task.source)
    if ('reason' in claimed) return await refuse(deps, task, claimed.reason)
    record = claimed.record
    // 10. Check the limits. Not earlier, for a warm address is counted already and its Service adds none. And every time,
    //     for the process that created the record may have died before it checked them.
    const reason = await deps.overLimit(record, new AbortController().signal)
    if (reason !== undefined) return await refuseOverLimit(deps, { ...task, record, source: claimed.source }, reason)
    if (claimed.source) return await holdSource(deps, record, claimed.source)
    // 11. The source was gone after all: make up for the search that step 8 left out.
    const missed = task.record.spec.source ? await search() : undefined
    if (typeof missed === 'string') return await refuse(deps, task, missed)
    if (missed) return await useReservation(deps, record, missed)
    // 12. When the time is over other processes may have taken over, and only they may send a request.
    if (timeLimit.isOver()) return { kind: 'pending', reason: 'the cloud was too slow; the controller tries again' }
    // 13. Reserve: one call, never repeated blindly.
    const request = { location: record.spec.location ?? '', marks: marksOf(deps, record) }
    return await storeReservation(deps, record, await deps.cloud.reserve(request, timeLimit.signal))
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    // The record of a warm address stays, and its status says what is wrong.
    if (isFinal(error)) return refuse(deps, { record, isFresh: task.isFresh && !isSource(record) }, error.message)
    return error.outcome === 'unknown'
      ? recoverLost(deps, { record, error }, timeLimit.signal)
      : postpone(deps, record, error)
  }
}

/** Looks once whether a reserve whose answer was lost was carried out; if this is not seen, later claims look again. */
async function recoverLost(
  deps: ClaimDeps,
  { record, error }: { record: ElasticIP; error: CloudError },
  signal: AbortSignal,
): Promise<ClaimResult> {
  try {
    const found = await findReservation(deps, record, signal)
    if (found) return await useReservation(deps, record, found)
  } catch (unread) {
    if (!(unread instanceof CloudError)) throw unread
  }
  return postpone(deps, record, error)
}

/** The cloud certainly did nothing, and would refuse the same request again. */
function isFinal(error: CloudError): boolean {
  return error.outcome === 'nothing' && ['auth', 'quota', 'invalid'].includes(error.fault)
}
