import pRetry from 'p-retry'
import { type Cloud, CloudError, type Reservation } from '../clouds/cloud.ts'
import { isConflict, isNotFound } from '../kube/errors.ts'
import type { Log } from '../kube/log.ts'
import type { ElasticIP } from './elastic-ip.ts'
import { claimKey, reservationOf } from './elastic-ip.ts'
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
  now: () => Date
  log: Log
}

export type Question = {
  record: ElasticIP
  /** The record is ours and new, and no reservation can be older than it: no list is needed before the reserve. */
  first: boolean
}

/**
 * Asks the cloud for the address of a record and writes down what it answered. The signal is the question's own budget,
 * never a caller's deadline: whatever was bought must reach the record.
 */
export async function ask(parts: AskParts, question: Question, signal: AbortSignal): Promise<Claimed> {
  const { record } = question
  try {
    const known = question.first ? undefined : await findReservation(parts, record, signal)
    const marks = marksOf(parts, record)
    const location = record.spec.location ?? ''
    const reservation = known ?? (await parts.cloud.reserve({ location, marks }, signal))
    return await settle(parts, record, reservation)
  } catch (error) {
    if (!(error instanceof CloudError)) throw error
    return isFinal(error) ? refuse(parts, question, error) : postpone(parts, record, error)
  }
}

/** The reservation that the cloud has for a record: by its id, else the oldest that carries its marks. */
export async function findReservation(
  parts: AskParts,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<Reservation | undefined> {
  const id = reservationOf(record)
  if (id !== undefined) return parts.cloud.reservation(id, signal)
  const marked = await parts.cloud.reservations(marksOf(parts, record), signal)
  return marked
    .filter(({ state }) => state !== 'denied')
    .toSorted((a, b) => (a.createdAt ?? '').localeCompare(b.createdAt ?? ''))[0]
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
  parts.log.info({ record: record.metadata.name, address, reservation: id }, 'address reserved')
  return { kind: 'held', record: stored, address }
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
  await write(parts, record, { phase: 'Requested', asking: undefined, message: error.message })
  return { kind: 'pending', why: error.message }
}

/** Writes what the cloud answered, over others' writes and through a short absence of the API server. */
function write(parts: AskParts, record: ElasticIP, change: StatusChange): Promise<ElasticIP> {
  let current = record
  const attempt = async () => {
    try {
      return await parts.records.writeStatus(current, change)
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

async function reread(parts: AskParts, record: ElasticIP): Promise<ElasticIP | undefined> {
  const stored = await parts.records.get(claimKey(record) ?? '')
  return stored?.metadata.uid === record.metadata.uid ? stored : undefined
}
