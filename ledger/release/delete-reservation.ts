import { type ElasticIP, reservationIdOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { clusterMarks } from '../record/marks.ts'

/**
 * How far the cloud has come. `deleted`: it no longer has the reservation, and the record is removed. `deleting`: it
 * accepted the request, but still lists the reservation; the record stays.
 */
export type DeletionResult = 'deleted' | 'deleting'

/** Deletes the reservation of a record at the cloud, and removes the record once the cloud no longer has it. */
export async function deleteReservation(
  deps: LedgerDeps,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<DeletionResult> {
  const reservation = reservationIdOf(record)
  const stays = reservation !== undefined && (await isForeign(deps, record, signal))
  if (reservation !== undefined && !stays) {
    await deps.cloud.release(reservation, signal)
    if (await deps.cloud.reservation(reservation, signal)) return 'deleting'
  }
  await deps.records.remove(record, { signal })
  const facts = { record: record.metadata.name, address: record.status?.address, reservation }
  deps.log.info(facts, stays ? 'record removed; its reservation is not ours and stays' : 'address released')
  return 'deleted'
}

/**
 * Whether a reservation does not carry our marks, and its record does not say `Delete`; or it names another cluster. Our
 * ledger can have such a one if this is a copy of that cluster, to which an operator has given an id of its own.
 */
async function isForeign(deps: LedgerDeps, record: ElasticIP, signal: AbortSignal): Promise<boolean> {
  const { spec } = record
  const { scheme, cloud } = deps
  if (scheme.isChosen) {
    const { cluster = scheme.cluster } = (await cloud.reservation(reservationIdOf(record) ?? '', signal))?.marks ?? {}
    if (cluster !== scheme.cluster) return true
  }
  if (spec.reservationID === undefined || spec.reclaimPolicy === 'Delete') return false
  const found = await deps.cloud.reservation(spec.reservationID, signal)
  return Object.entries(clusterMarks(deps.scheme)).some(([mark, value]) => found?.marks[mark] !== value)
}
