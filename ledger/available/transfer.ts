import type { LedgerDeps } from '../claim/ask.ts'
import { type ElasticIP, claimKey, phaseOf } from '../record/elastic-ip.ts'
import { transferMarks } from '../record/marks.ts'
import { holdsReservation, hasSource, isClaimedBy } from '../record/source.ts'
import { makeAvailable } from './claim-source.ts'

/**
 * Makes an address out of the warm pool its Service's for good: the cloud is told, then the stock forgets it. Until then
 * both have a record of it, and the one in stock is nobody's to take.
 */
export async function transferWarm(
  deps: LedgerDeps,
  { source, record }: { source: ElasticIP; record: ElasticIP },
  signal: AbortSignal,
): Promise<void> {
  const { reservationID = '', address } = source.status ?? {}
  await deps.cloud.mark(reservationID, transferMarks(deps.scheme, claimKey(record) ?? ''), signal)
  await deps.records.remove(source)
  await clearSource(deps, record)
  deps.log.info({ record: record.metadata.name, address, from: source.metadata.name }, 'address handed over')
}

/**
 * Takes what is left of an address out of the stock before it goes back to the cloud: what stayed there would be handed
 * out again. Answers the record as it is then; it owns its reservation alone.
 */
export async function detachFromSource(deps: LedgerDeps, record: ElasticIP): Promise<ElasticIP> {
  const { source: sourceRef } = record.spec
  if (sourceRef?.type !== 'WarmPool') return record
  const source = await deps.records.get(sourceRef.name)
  if (source && isClaimedBy(source, record) && holdsReservation(record, source)) await deps.records.remove(source)
  return clearSource(deps, record)
}

/** Says no more where an address came from: nothing is there any longer, or it has nothing to do with the record. */
export function clearSource(deps: LedgerDeps, record: ElasticIP): Promise<ElasticIP> {
  const { source: _past, ...spec } = record.spec
  return deps.records.writeSpec(record, spec)
}

/**
 * Brings an address back to the person who lent it, and takes the Service's record off the book. Whether a Service had it
 * is written down first, for that decides what becomes of an address whose owner wants it deleted afterwards.
 */
export async function returnToSource(deps: LedgerDeps, record: ElasticIP): Promise<void> {
  const lent = await deps.records.get(record.spec.source?.name ?? '')
  const source = lent && isClaimedBy(lent, record) && hasSource(record, lent) ? lent : undefined
  const wasUsed = source && record.spec.claimRef?.uid !== undefined && phaseOf(source) === 'Available'
  const back = wasUsed ? await deps.records.writeStatus(source, { phase: 'Bound' }) : source
  await deps.records.remove(record)
  deps.log.info({ record: record.metadata.name, address: record.status?.address }, 'address brought back')
  if (back) await reclaimSource(deps, back)
}

/** What becomes of an address in stock whose record is gone: it is there for the next, or its owner wanted it to go. */
export async function reclaimSource(deps: LedgerDeps, source: ElasticIP): Promise<void> {
  const isOver = phaseOf(source) === 'Bound' && source.spec.reclaimPolicy === 'Delete'
  if (isOver) await deps.records.writeStatus(source, { phase: 'Releasing', message: 'its Service is gone' })
  else await makeAvailable(deps, source)
}
