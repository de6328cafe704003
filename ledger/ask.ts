import { type Cloud, CloudError, type Reservation, type ReservationRequest } from '../clouds/cloud.ts'
import { isConflict } from '../kube/errors.ts'
import type { Log } from '../kube/log.ts'
import { hold, postpone, refuse, settle, use } from './answer.ts'
import type { Budget } from './budget.ts'
import type { ElasticIP } from './elastic-ip.ts'
import { findReservation, marksOf } from './find.ts'
import { inherit } from './inherit.ts'
import type { MarkScheme } from './marks.ts'
import type { Records } from './records.ts'
import type { Shelf } from './shelf.ts'
import { isStock } from './stock.ts'
import { type Taken, putBack, take } from './take.ts'

export type Claimed =
  | { kind: 'held'; record: ElasticIP; address: string }
  /** It will come: somebody is at it, or the cloud could not be reached. */
  | { kind: 'pending'; why: string }
  /** It will not come unless a person changes something. */
  | { kind: 'refused'; why: string }

export type AskParts = {
  records: Records
  cloud: Pick<Cloud, 'name' | 'reservations' | 'reservation' | 'reserve' | 'mark' | 'release'>
  /** Addresses that are there already. */
  shelf: Shelf
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
  lot?: ElasticIP | undefined
}

/**
 * Finds the address of a record, in the stock or in the cloud, and writes down what came of it. The budget is the
 * question's own, never a caller's deadline: whatever was bought must reach the record.
 */
export async function ask(parts: AskParts, question: Question, budget: Budget): Promise<Claimed> {
  const { first } = question
  let { record } = question
  try {
    const known = record.spec.from ? undefined : await sought(parts, question, budget)
    if (known) return await use(parts, record, known)
    const taken: Taken = isStock(record) ? { record } : await take(parts, record, question.lot)
    if ('why' in taken) return await refuse(parts, question, taken.why)
    record = taken.record
    // Not earlier, for what is in stock is counted already; and not only once, for whoever wrote the record may have
    // died before it was counted.
    const why = await parts.overLimit(record, new AbortController().signal)
    if (why !== undefined) return await turnAway(parts, { record, first, lot: taken.lot }, why)
    if (taken.lot) return await hold(parts, record, taken.lot)
    const missed = question.record.spec.from ? await sought(parts, { record, first }, budget) : undefined
    if (missed) return await use(parts, record, missed)
    // Past its budget others may be at it: they have the word from here on.
    if (budget.isSpent()) return { kind: 'pending', why: 'the cloud was too slow, it is asked again' }
    return await settle(parts, record, await parts.cloud.reserve(requestOf(parts, record), budget.signal))
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    // The record of an address for nobody yet stays, and says what is wrong.
    if (isFinal(error)) return refuse(parts, { record, first: first && !isStock(record) }, error.message)
    return error.outcome === 'unknown'
      ? search(parts, { record, error }, budget.signal)
      : postpone(parts, record, error)
  }
}

/** What the cloud has for a record already; nothing, if it cannot be older than the record. */
async function sought(
  parts: AskParts,
  { record, first }: Question,
  { signal }: Budget,
): Promise<Reservation | undefined> {
  return first ? undefined : ((await findReservation(parts, record, signal)) ?? inherit(parts, record, signal))
}

async function turnAway(parts: AskParts, question: Question, why: string): Promise<Claimed> {
  try {
    if (question.lot) await putBack(parts, question.lot)
  } catch (error) {
    // Somebody else is at it, who finds it taken for nothing as soon as the record is gone.
    if (!isConflict(error)) throw error
  }
  return refuse(parts, question, why)
}

function requestOf(parts: AskParts, record: ElasticIP): ReservationRequest {
  return { location: record.spec.location ?? '', marks: marksOf(parts, record) }
}

/** The cloud surely did nothing, and would do nothing if it were asked the same again. */
function isFinal(error: CloudError): boolean {
  return error.outcome === 'nothing' && ['auth', 'quota', 'invalid'].includes(error.fault)
}

/** Looks once whether a reserve whose answer was lost was carried out. */
async function search(
  parts: AskParts,
  { record, error }: { record: ElasticIP; error: CloudError },
  signal: AbortSignal,
): Promise<Claimed> {
  try {
    const found = await findReservation(parts, record, signal)
    if (found) return await use(parts, record, found)
  } catch (unread) {
    if (!(unread instanceof CloudError)) throw unread
  }
  return postpone(parts, record, error)
}
