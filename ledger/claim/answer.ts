import pRetry from 'p-retry'
import type { CloudError, Reservation } from '../../clouds/cloud.ts'
import { isConflict, isNotFound } from '../../kube/errors.ts'
import type { LedgerDeps, ClaimResult, Question } from './ask.ts'
import { requestIdOf } from '../record/requests-in-flight.ts'
import { type ElasticIP, heldAddress, reservationIdOf } from '../record/elastic-ip.ts'
import { type StatusChange, condition } from '../record/records.ts'
import { isAvailable, isSource } from '../record/source.ts'

/** Answers with a reservation that was there already; a question before this one may have made it, in another place. */
export async function use(deps: LedgerDeps, record: ElasticIP, found: Reservation): Promise<ClaimResult> {
  const { location } = found
  const isAsSaid = location === undefined || location === record.spec.location || reservationIdOf(record) !== undefined
  // What is in stock has marks of its own, and is where its record says, in the words that Services ask in.
  const current =
    isAsSaid || isSource(record) ? record : await deps.records.writeSpec(record, { ...record.spec, location })
  return settle(deps, current, found)
}

/** Answers with a reservation as far as it has come: granted, on its way, or denied. */
export async function settle(deps: LedgerDeps, record: ElasticIP, reservation: Reservation): Promise<ClaimResult> {
  const now = deps.now()
  const { id, address, state } = reservation
  if (state === 'denied') {
    await deps.cloud.release(id, new AbortController().signal)
    await write(deps, record, {
      requestInFlight: undefined,
      reservationID: undefined,
      message: 'the cloud denied the request',
    })
    return { kind: 'refused', why: `${deps.cloud.name} denied the request for an address` }
  }
  if (state === 'requested' || address === undefined) {
    const message = `${deps.cloud.name} has not granted the address yet`
    const conditions = [condition('Reserved', { status: 'False', reason: 'NotGranted', message, now })]
    await write(deps, record, {
      phase: 'Requested',
      reservationID: id,
      requestInFlight: undefined,
      message,
      conditions,
    })
    return { kind: 'pending', why: message }
  }
  const said = { status: 'True', reason: 'Granted', message: `reservation ${id}`, now } as const
  const stored = await write(deps, record, {
    phase: isSource(record) ? 'Available' : 'Reserved',
    reservationID: id,
    address,
    requestInFlight: undefined,
    message: undefined,
    conditions: [condition('Requested', said), condition('Reserved', said)],
  })
  return answerOf(deps, stored, reservation)
}

/** What the record says in the end: others may have gone on with it while the cloud took its time. */
function answerOf(deps: LedgerDeps, stored: ElasticIP, { id, address }: Reservation): ClaimResult {
  const record = stored.metadata.name
  if (reservationIdOf(stored) === id) deps.log.info({ record, address, reservation: id }, 'address reserved')
  else deps.log.warn({ record, address, reservation: id }, 'reserved twice: the sweep gives this one back')
  const held = isAvailable(stored) ? address : heldAddress(stored)
  if (held === undefined) return { kind: 'pending', why: 'its record was taken further meanwhile' }
  return { kind: 'held', record: stored, address: held }
}

/**
 * Answers with an address out of the stock. Only to the record as it was when the stock was marked with its name: the
 * address stays where it is until then, so unlike one that was bought it is not lost if somebody else was here.
 */
export async function hold(deps: LedgerDeps, record: ElasticIP, source: ElasticIP): Promise<ClaimResult> {
  const { address = '', reservationID } = source.status ?? {}
  const { name } = source.metadata
  const said = { status: 'True', reason: 'Taken', message: `from ElasticIP ${name}`, now: deps.now() } as const
  const stored = await deps.records.writeStatus(record, {
    phase: 'Reserved',
    reservationID,
    address,
    requestInFlight: undefined,
    message: undefined,
    conditions: [condition('Requested', said), condition('Reserved', said)],
  })
  deps.log.info({ record: record.metadata.name, address, reservation: reservationID, from: name }, 'address taken')
  return { kind: 'held', record: stored, address }
}

/** Answers that there will be no address unless a person changes something. */
export async function refuse(deps: LedgerDeps, question: Question, why: string): Promise<ClaimResult> {
  const { record, first } = question
  // An older record may stand for a reserve whose answer was lost: it stays, and with it what it may have bought.
  if (first) await deps.records.remove(record)
  else await write(deps, record, { requestInFlight: undefined, message: why })
  return { kind: 'refused', why }
}

/** Answers that the cloud has to be asked again. */
export async function postpone(deps: LedgerDeps, record: ElasticIP, error: CloudError): Promise<ClaimResult> {
  deps.log.warn({ record: record.metadata.name, fault: error.fault, error: error.message }, 'address not reserved yet')
  // The cloud may still be at a call whose answer was lost, so for everybody, us included, it counts as under way.
  const requestInFlight =
    error.outcome === 'unknown' ? { sender: deps.identity, sentAt: deps.now().toISOString() } : undefined
  await write(deps, record, { phase: 'Requested', requestInFlight, message: error.message })
  return { kind: 'pending', why: error.message }
}

/** Writes what the cloud answered, over others' writes and through a short absence of the API server. */
function write(deps: LedgerDeps, record: ElasticIP, change: StatusChange): Promise<ElasticIP> {
  let current = record
  const attempt = async () => {
    if (!isOpen(current, { record, change })) return current
    try {
      return await deps.records.writeStatus(
        current,
        current.status?.deletionRequestedAt ? onItsWayBack(change) : change,
      )
    } catch (error) {
      if (isConflict(error)) current = (await reread(deps, record)) ?? current
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
 * Whether an answer still has its place in the record as it is now. A reservation has, until there is another, or one out
 * of the stock is to be; what is said of a question has, until somebody else has put it anew.
 */
function isOpen(current: ElasticIP, { record, change }: { record: ElasticIP; change: StatusChange }): boolean {
  if (change.reservationID === undefined) return requestIdOf(current) === requestIdOf(record)
  const isSame = reservationIdOf(current) === change.reservationID
  // Somebody has seen it granted since.
  if (isSame && change.address === undefined && current.status?.address !== undefined) return false
  return isSame || (reservationIdOf(current) === reservationIdOf(record) && current.spec.source === undefined)
}

/** The address of such a record is nobody's any more; that there is a reservation is all that still matters. */
function onItsWayBack({ reservationID }: StatusChange): StatusChange {
  return reservationID === undefined ? {} : { reservationID }
}

async function reread(deps: LedgerDeps, record: ElasticIP): Promise<ElasticIP | undefined> {
  const stored = await deps.records.get(record.metadata.name)
  return stored?.metadata.uid === record.metadata.uid ? stored : undefined
}
