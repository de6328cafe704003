import { type ElasticIP, addressKeyOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { transferMarks } from '../record/marks.ts'

/**
 * Transfers a warm address to its Service for good: first the marks at the cloud change, then the warm record goes. Until
 * then two records have the reservation, and no other Service can claim the warm one.
 */
export async function transferWarm(
  deps: Pick<LedgerDeps, 'records' | 'cloud' | 'scheme' | 'log'>,
  { source, record }: { source: ElasticIP; record: ElasticIP },
  signal: AbortSignal,
): Promise<void> {
  const { reservationID = '', address } = source.status ?? {}
  await deps.cloud.mark(reservationID, transferMarks(deps.scheme, addressKeyOf(record) ?? ''), signal)
  await deps.records.remove(source, { signal })
  await clearSource(deps, record, signal)
  deps.log.info({ record: record.metadata.name, address, from: source.metadata.name }, 'address transferred')
}

/** Removes the name of its source from a record: the source is gone, or it has nothing to do with the record. */
export function clearSource(
  deps: Pick<LedgerDeps, 'records'>,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<ElasticIP> {
  const { source: _former, ...spec } = record.spec
  return deps.records.writeSpec(record, spec, { signal })
}
