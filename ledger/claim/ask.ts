import { type Cloud, CloudError, type Reservation, type ReservationRequest } from '../../clouds/cloud.ts'
import { isConflict } from '../../kube/errors.ts'
import type { Log } from '../../kube/log.ts'
import { hold, postpone, refuse, settle, use } from './answer.ts'
import type { TimeLimit } from '../../lib/time-limit.ts'
import type { ElasticIP } from '../record/elastic-ip.ts'
import { findReservation, marksOf } from '../record/find-reservation.ts'
import { adoptUnmarked } from './adopt-unmarked.ts'
import type { MarkScheme } from '../record/marks.ts'
import type { Records } from '../record/records.ts'
import type { WarmCandidates } from '../available/warm-candidates.ts'
import { isSource } from '../record/source.ts'
import { type SourceClaim, makeAvailable, claimSource } from '../available/claim-source.ts'

export type ClaimResult =
  | { kind: 'held'; record: ElasticIP; address: string }
  /** It will come: somebody is at it, or the cloud could not be reached. */
  | { kind: 'pending'; why: string }
  /** It will not come unless a person changes something. */
  | { kind: 'refused'; why: string }

export type LedgerDeps = {
  records: Records
  cloud: Pick<Cloud, 'name' | 'reservations' | 'reservation' | 'reserve' | 'mark' | 'release'>
  /** Addresses that are there already. */
  warmCandidates: WarmCandidates
  /** Why a record is one too many, in words for whoever asked for it. */
  overLimit: (record: ElasticIP, signal: AbortSignal) => Promise<string | undefined>
  scheme: MarkScheme
  /** Who we are to other processes; no two ever have the same. */
  identity: string
  now: () => Date
  log: Log
}

export type Question = {
  record: ElasticIP
  /** The record is ours and new, and no reservation can be older than it: no list is needed before the reserve. */
  first: boolean
  /** What the record says it takes out of the stock, as it was when it was chosen. */
  source?: ElasticIP | undefined
}

/**
 * Finds the address of a record, in the stock or in the cloud, and writes down what came of it. The budget is the
 * question's own, never a caller's deadline: whatever was bought must reach the record.
 */
export async function ask(deps: LedgerDeps, question: Question, timeLimit: TimeLimit): Promise<ClaimResult> {
  const { first } = question
  let { record } = question
  try {
    const known = record.spec.source ? undefined : await sought(deps, question, timeLimit)
    if (known) return await use(deps, record, known)
    const taken: SourceClaim = isSource(record) ? { record } : await claimSource(deps, record, question.source)
    if ('why' in taken) return await refuse(deps, question, taken.why)
    record = taken.record
    // Not earlier, for what is in stock is counted already; and not only once, for whoever wrote the record may have
    // died before it was counted.
    const why = await deps.overLimit(record, new AbortController().signal)
    if (why !== undefined) return await turnAway(deps, { record, first, source: taken.source }, why)
    if (taken.source) return await hold(deps, record, taken.source)
    const missed = question.record.spec.source ? await sought(deps, { record, first }, timeLimit) : undefined
    if (missed) return await use(deps, record, missed)
    // Past its budget others may be at it: they have the word from here on.
    if (timeLimit.isOver()) return { kind: 'pending', why: 'the cloud was too slow, it is asked again' }
    return await settle(deps, record, await deps.cloud.reserve(requestOf(deps, record), timeLimit.signal))
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    // The record of an address for nobody yet stays, and says what is wrong.
    if (isFinal(error)) return refuse(deps, { record, first: first && !isSource(record) }, error.message)
    return error.outcome === 'unknown'
      ? search(deps, { record, error }, timeLimit.signal)
      : postpone(deps, record, error)
  }
}

/** What the cloud has for a record already; nothing, if it cannot be older than the record. */
async function sought(
  deps: LedgerDeps,
  { record, first }: Question,
  { signal }: TimeLimit,
): Promise<Reservation | undefined> {
  return first ? undefined : ((await findReservation(deps, record, signal)) ?? adoptUnmarked(deps, record, signal))
}

async function turnAway(deps: LedgerDeps, question: Question, why: string): Promise<ClaimResult> {
  try {
    if (question.source) await makeAvailable(deps, question.source)
  } catch (error) {
    // Somebody else is at it, who finds it taken for nothing as soon as the record is gone.
    if (!isConflict(error)) throw error
  }
  return refuse(deps, question, why)
}

function requestOf(deps: LedgerDeps, record: ElasticIP): ReservationRequest {
  return { location: record.spec.location ?? '', marks: marksOf(deps, record) }
}

/** The cloud surely did nothing, and would do nothing if it were asked the same again. */
function isFinal(error: CloudError): boolean {
  return error.outcome === 'nothing' && ['auth', 'quota', 'invalid'].includes(error.fault)
}

/** Looks once whether a reserve whose answer was lost was carried out. */
async function search(
  deps: LedgerDeps,
  { record, error }: { record: ElasticIP; error: CloudError },
  signal: AbortSignal,
): Promise<ClaimResult> {
  try {
    const found = await findReservation(deps, record, signal)
    if (found) return await use(deps, record, found)
  } catch (unread) {
    if (!(unread instanceof CloudError)) throw unread
  }
  return postpone(deps, record, error)
}
