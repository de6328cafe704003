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
    // The sweep finds what we reserved by its marks, if a 404 was false; one that a person named may have none.
    const isGone =
      record.spec.reservationID === undefined
        ? !(await deps.cloud.reservation(reservation, signal))
        : await isCertainlyGone(deps, reservation, signal)
    if (!isGone) return 'deleting'
  }
  await deps.records.remove(record, { signal })
  deps.log.info({ record: record.metadata.name, address: record.status?.address, reservation }, 'address released')
  return 'deleted'
}

/** Whether the cloud no longer has a reservation: neither by its id nor in the list of the project. */
export async function isCertainlyGone(
  { cloud }: Pick<LedgerDeps, 'cloud'>,
  id: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (await cloud.reservation(id, signal)) return false
  return (await cloud.reservations({}, signal)).every((one) => one.id !== id)
}
