import type { AskParts } from './ask.ts'
import type { Asking } from './asking.ts'
import { type ElasticIP, phaseOf, reservationOf } from './elastic-ip.ts'
import { findReservation } from './find.ts'
import { giveBack } from './give-back.ts'
import { bringBack, takeOver } from './hand-over.ts'
import { assigned } from './records.ts'
import { setAside } from './returning.ts'

export type ReleaseParts = AskParts & {
  asking: Asking
  /** A live look, past every cache, at whether the Service of a record still wants the record's address. */
  stillWanted: (record: ElasticIP, signal: AbortSignal) => Promise<boolean>
}

export type Released = {
  /** `gone`: the record, and the cloud was told. `kept`: its Service wants it after all. `going`: it may be being bought. */
  outcome: 'gone' | 'kept' | 'going'
}

/**
 * Gives the address of a record back to the cloud, and takes the record off the book.
 * Each step is written down before the next, so that whoever finds the record knows how far it went; once `returnedAt`
 * is written the address is nobody's, even if the call that followed was lost.
 */
export async function release(parts: ReleaseParts, record: ElasticIP, signal: AbortSignal): Promise<Released> {
  // A reserve that is under way may yet buy what no list shows: it has to reach the record first.
  if (parts.asking.underWay(record)) return { outcome: 'going' }
  const marked = phaseOf(record) === 'Releasing' ? record : await leave(parts, record, 'Releasing')
  if (!marked.status?.returnedAt && (await parts.stillWanted(marked, signal))) {
    await keep(parts, marked)
    return { outcome: 'kept' }
  }
  if (marked.spec.from?.lent) {
    await bringBack(parts, marked)
    return { outcome: 'gone' }
  }
  await toCloud(parts, await takeOver(parts, marked), signal)
  return { outcome: 'gone' }
}

/** Gives an address of the stock that nobody has taken back to the cloud. */
export async function releaseLot(
  parts: AskParts & Pick<ReleaseParts, 'asking'>,
  lot: ElasticIP,
  signal: AbortSignal,
): Promise<'gone' | 'going'> {
  if (parts.asking.underWay(lot)) return 'going'
  const marked = phaseOf(lot) === 'Releasing' ? lot : await parts.records.writeStatus(lot, { phase: 'Releasing' })
  await toCloud(parts, marked, signal)
  return 'gone'
}

/** What goes back is written down before it does, and watched until the cloud has it no more. */
async function toCloud(parts: AskParts, marked: ElasticIP, signal: AbortSignal): Promise<void> {
  const reservationID = reservationOf(marked) ?? (await findReservation(parts, marked, signal))?.id
  const { returnedAt = parts.now().toISOString() } = marked.status ?? {}
  const returned = await parts.records.writeStatus(marked, { returnedAt, reservationID })
  if ((await giveBack(parts, returned, signal)) === 'going') await setAside(parts, returned, signal)
}

function leave(parts: AskParts, record: ElasticIP, phase: 'Releasing' | 'Released'): Promise<ElasticIP> {
  const said = { reason: phase, message: 'no Service wants it', now: parts.now() }
  return parts.records.writeStatus(record, { phase, conditions: [assigned('False', said)] })
}

async function keep(parts: AskParts, record: ElasticIP): Promise<void> {
  const { address } = record.status ?? {}
  const isBound = address !== undefined && record.spec.claimRef?.uid !== undefined
  const unbound = address === undefined ? 'Requested' : 'Reserved'
  const said = { reason: 'Kept', message: 'its Service wants it after all', now: parts.now() }
  await parts.records.writeStatus(record, {
    phase: isBound ? 'Bound' : unbound,
    conditions: [assigned(isBound ? 'True' : 'Unknown', said)],
  })
}

/** Keeps the address of a record whose Service went; a Service of the same name gets it again. */
export async function retain(parts: AskParts, record: ElasticIP): Promise<void> {
  const { uid: _gone, ...claimRef } = record.spec.claimRef ?? { namespace: '', name: '' }
  const unbound = await parts.records.writeSpec(record, { ...record.spec, claimRef, reclaimPolicy: 'Retain' })
  await leave(parts, unbound, 'Released')
}
