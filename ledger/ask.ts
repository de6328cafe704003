import pRetry from 'p-retry'
import { type Cloud, CloudError, type Reservation, type ReservationRequest } from '../clouds/cloud.ts'
import { isConflict, isNotFound } from '../kube/errors.ts'
import type { Log } from '../kube/log.ts'
import { questionOf } from './asking.ts'
import type { Budget } from './budget.ts'
import { type ElasticIP, claimKey, heldAddress, reservationOf } from './elastic-ip.ts'
import { isReturning } from './orphan.ts'
import { type MarkScheme, serviceMarks } from './marks.ts'
import { type Records, type StatusChange, condition } from './records.ts'

export type Claimed =
  | { kind: 'held'; record: ElasticIP; address: string }
  /** It will come: somebody is at it, or the cloud could not be reached. */
  | { kind: 'pending'; why: string }
  /** It will not come unless a person changes something. */
  | { kind: 'refused'; why: string }

export type AskParts = {
  records: Records
  cloud: Pick<Cloud, 'name' | 'reservations' | 'reservation' | 'reserve' | 'release'>
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
}

/**
 * Asks the cloud for the address of a record and writes down what it answered. The budget is the question's own, never
 * a caller's deadline: whatever was bought must reach the record.
 */
export async function ask(parts: AskParts, question: Question, budget: Budget): Promise<Claimed> {
  const { record } = question
  const { signal } = budget
  try {
    const known = question.first ? undefined : await findReservation(parts, record, signal)
    if (known) return await use(parts, record, known)
    // Past its budget others may be at it: they have the word from here on.
    if (budget.isSpent()) return { kind: 'pending', why: 'the cloud was too slow, it is asked again' }
    return await settle(parts, record, await parts.cloud.reserve(requestOf(parts, record), signal))
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    if (isFinal(error)) return refuse(parts, question, error)
    return error.outcome === 'unknown' ? search(parts, { record, error }, signal) : postpone(parts, record, error)
  }
}

/** The reservation that the cloud has for a record: by its id, else the oldest that carries its marks. */
export async function findReservation(
  parts: AskParts,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<Reservation | undefined> {
  const id = reservationOf(record)
  const known = id === undefined ? undefined : await parts.cloud.reservation(id, signal)
  if (known) return known
  const marked = await parts.cloud.reservations(marksOf(parts, record), signal)
  const granted = marked.filter(({ state }) => state !== 'denied')
  for (const found of granted.toSorted((a, b) => (a.createdAt ?? '').localeCompare(b.createdAt ?? ''))) {
    if (!(await isReturning(parts, found.id, signal))) return found
  }
  return undefined
}

function requestOf(parts: AskParts, record: ElasticIP): ReservationRequest {
  return { location: record.spec.location ?? '', marks: marksOf(parts, record) }
}

function marksOf(parts: AskParts, record: ElasticIP) {
  const key = claimKey(record)
  if (key === undefined) throw new Error(`ElasticIP ${record.metadata.name} is for no Service`)
  return serviceMarks(parts.scheme, key)
}

/** The cloud surely did nothing, and would do nothing if it were asked the same again. */
function isFinal(error: CloudError): boolean {
  return error.outcome === 'nothing' && ['auth', 'quota', 'invalid'].includes(error.fault)
}

/** A reservation that was there already may be elsewhere than the record says: a question before this one made it. */
async function use(parts: AskParts, record: ElasticIP, found: Reservation): Promise<Claimed> {
  const { location } = found
  const isAsSaid = location === undefined || location === record.spec.location || reservationOf(record) !== undefined
  const current = isAsSaid ? record : await parts.records.writeSpec(record, { ...record.spec, location })
  return settle(parts, current, found)
}

async function settle(parts: AskParts, record: ElasticIP, reservation: Reservation): Promise<Claimed> {
  const now = parts.now()
  const { id, address, state } = reservation
  if (state === 'denied') {
    await parts.cloud.release(id, new AbortController().signal)
    await write(parts, record, { asking: undefined, reservationID: undefined, message: 'the cloud denied the request' })
    return { kind: 'refused', why: `${parts.cloud.name} denied the request for an address` }
  }
  if (state === 'requested' || address === undefined) {
    const message = `${parts.cloud.name} has not granted the address yet`
    const conditions = [condition('Reserved', { status: 'False', reason: 'NotGranted', message, now })]
    await write(parts, record, { phase: 'Requested', reservationID: id, asking: undefined, message, conditions })
    return { kind: 'pending', why: message }
  }
  const said = { status: 'True', reason: 'Granted', message: `reservation ${id}`, now } as const
  const stored = await write(parts, record, {
    phase: 'Reserved',
    reservationID: id,
    address,
    asking: undefined,
    message: undefined,
    conditions: [condition('Requested', said), condition('Reserved', said)],
  })
  return answerOf(parts, stored, reservation)
}

/** What the record says in the end: others may have gone on with it while the cloud took its time. */
function answerOf(parts: AskParts, stored: ElasticIP, { id, address }: Reservation): Claimed {
  const record = stored.metadata.name
  if (reservationOf(stored) === id) parts.log.info({ record, address, reservation: id }, 'address reserved')
  else parts.log.warn({ record, address, reservation: id }, 'reserved twice: the sweep gives this one back')
  const held = heldAddress(stored)
  if (held === undefined) return { kind: 'pending', why: 'its record was taken further meanwhile' }
  return { kind: 'held', record: stored, address: held }
}

async function refuse(parts: AskParts, question: Question, error: CloudError): Promise<Claimed> {
  const { record, first } = question
  // An older record may stand for a reserve whose answer was lost: it stays, and with it what it may have bought.
  if (first) await parts.records.remove(record)
  else await write(parts, record, { asking: undefined, message: error.message })
  return { kind: 'refused', why: error.message }
}

async function postpone(parts: AskParts, record: ElasticIP, error: CloudError): Promise<Claimed> {
  parts.log.warn({ record: record.metadata.name, fault: error.fault, error: error.message }, 'address not reserved yet')
  // The cloud may still be at a call whose answer was lost, so for everybody, us included, it counts as under way.
  const asking = error.outcome === 'unknown' ? { by: parts.identity, since: parts.now().toISOString() } : undefined
  await write(parts, record, { phase: 'Requested', asking, message: error.message })
  return { kind: 'pending', why: error.message }
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

/** Writes what the cloud answered, over others' writes and through a short absence of the API server. */
function write(parts: AskParts, record: ElasticIP, change: StatusChange): Promise<ElasticIP> {
  let current = record
  const attempt = async () => {
    if (!isOpen(current, { record, change })) return current
    try {
      return await parts.records.writeStatus(current, current.status?.returnedAt ? onItsWayBack(change) : change)
    } catch (error) {
      if (isConflict(error)) current = (await reread(parts, record)) ?? current
      throw error
    }
  }
  return pRetry(attempt, {
    retries: 8,
    minTimeout: 50,
    factor: 2,
    randomize: true,
    shouldRetry: ({ error }) => !isNotFound(error),
  })
}

/**
 * Whether an answer still has its place in the record as it is now. A reservation has, until there is another; what is
 * said of a question has, until somebody else has put it anew.
 */
function isOpen(current: ElasticIP, { record, change }: { record: ElasticIP; change: StatusChange }): boolean {
  if (change.reservationID === undefined) return questionOf(current) === questionOf(record)
  return [reservationOf(record), change.reservationID].includes(reservationOf(current))
}

/** The address of such a record is nobody's any more; that there is a reservation is all that still matters. */
function onItsWayBack({ reservationID }: StatusChange): StatusChange {
  return reservationID === undefined ? {} : { reservationID }
}

async function reread(parts: AskParts, record: ElasticIP): Promise<ElasticIP | undefined> {
  const stored = await parts.records.get(claimKey(record) ?? '')
  return stored?.metadata.uid === record.metadata.uid ? stored : undefined
}
