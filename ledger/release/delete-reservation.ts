import { type ElasticIP, reservationIdOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'

/**
 * How far the cloud has come. `deleted`: it no longer has the reservation, and the record is removed. `deleting`: it
 * accepted the request, but still lists the reservation; the record stays.
 */
export type DeletionResult = 'deleted' | 'deleting'

/**
 * Deletes the reservation of a record at the cloud, and removes the record once the cloud no longer has it. The caller
 * has looked whether anybody uses the address.
 */
export async function deleteReservation(
  deps: LedgerDeps,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<DeletionResult> {
  const reservation = reservationIdOf(record)
  if (reservation !== undefined) {
    await deps.cloud.release(reservation, signal)
    if (await deps.cloud.reservation(reservation, signal)) return 'deleting'
  }
  await deps.records.remove(record, { signal })
  deps.log.info({ record: record.metadata.name, address: record.status?.address, reservation }, 'address released')
  return 'deleted'
}
