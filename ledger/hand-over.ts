import type { AskParts } from './ask.ts'
import { type ElasticIP, claimKey, phaseOf } from './elastic-ip.ts'
import { takenMarks } from './marks.ts'
import { holds, isFrom, isTakenBy } from './stock.ts'
import { putBack } from './take.ts'

/**
 * Makes an address out of the warm pool its Service's for good: the cloud is told, then the stock forgets it. Until then
 * both have a record of it, and the one in stock is nobody's to take.
 */
export async function handOver(
  parts: AskParts,
  { lot, record }: { lot: ElasticIP; record: ElasticIP },
  signal: AbortSignal,
): Promise<void> {
  const { reservationID = '', address } = lot.status ?? {}
  await parts.cloud.mark(reservationID, takenMarks(parts.scheme, claimKey(record) ?? ''), signal)
  await parts.records.remove(lot)
  await forgetSource(parts, record)
  parts.log.info({ record: record.metadata.name, address, from: lot.metadata.name }, 'address handed over')
}

/**
 * Takes what is left of an address out of the stock before it goes back to the cloud: what stayed there would be handed
 * out again. Answers the record as it is then; it owns its reservation alone.
 */
export async function takeOver(parts: AskParts, record: ElasticIP): Promise<ElasticIP> {
  const { from } = record.spec
  if (!from || from.lent) return record
  const lot = await parts.records.get(from.name)
  if (lot && isTakenBy(lot, record) && holds(record, lot)) await parts.records.remove(lot)
  return forgetSource(parts, record)
}

/** Says no more where an address came from: nothing is there any longer, or it has nothing to do with the record. */
export function forgetSource(parts: AskParts, record: ElasticIP): Promise<ElasticIP> {
  const { from: _past, ...spec } = record.spec
  return parts.records.writeSpec(record, spec)
}

/**
 * Brings an address back to the person who lent it, and takes the Service's record off the book. Whether a Service had it
 * is written down first, for that decides what becomes of an address whose owner wants it deleted afterwards.
 */
export async function bringBack(parts: AskParts, record: ElasticIP): Promise<void> {
  const lent = await parts.records.get(record.spec.from?.name ?? '')
  const lot = lent && isTakenBy(lent, record) && isFrom(record, lent) ? lent : undefined
  const wasUsed = lot && record.spec.claimRef?.uid !== undefined && phaseOf(lot) === 'Available'
  const back = wasUsed ? await parts.records.writeStatus(lot, { phase: 'Bound' }) : lot
  await parts.records.remove(record)
  parts.log.info({ record: record.metadata.name, address: record.status?.address }, 'address brought back')
  if (back) await retire(parts, back)
}

/** What becomes of an address in stock whose record is gone: it is there for the next, or its owner wanted it to go. */
export async function retire(parts: AskParts, lot: ElasticIP): Promise<void> {
  const isOver = phaseOf(lot) === 'Bound' && lot.spec.reclaimPolicy === 'Delete'
  if (isOver) await parts.records.writeStatus(lot, { phase: 'Releasing', message: 'its Service is gone' })
  else await putBack(parts, lot)
}
