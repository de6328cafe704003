import type { LedgerDeps } from '../claim/ask.ts'
import { type ElasticIP, reservationIdOf } from '../record/elastic-ip.ts'
import { clusterMarks } from '../record/marks.ts'

/** Gives the reservation of a record back, and takes the record off the book once the cloud has it no more. */
export async function deleteReservation(
  deps: LedgerDeps,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<'gone' | 'going'> {
  const reservation = reservationIdOf(record)
  const stays = reservation !== undefined && (await isTheirs(deps, record, signal))
  if (reservation !== undefined && !stays) {
    await deps.cloud.release(reservation, signal)
    if (await deps.cloud.reservation(reservation, signal)) return 'going'
  }
  await deps.records.remove(record)
  const { name } = record.metadata
  const said = stays ? 'record removed, its reservation was made by others and stays' : 'address released'
  deps.log.info({ record: name, address: record.status?.address, reservation }, said)
  return 'gone'
}

/** Whether a reservation was made by somebody else, who did not ask that it be deleted. */
async function isTheirs(deps: LedgerDeps, { spec }: ElasticIP, signal: AbortSignal): Promise<boolean> {
  if (spec.reservationID === undefined || spec.reclaimPolicy === 'Delete') return false
  const found = await deps.cloud.reservation(spec.reservationID, signal)
  return Object.entries(clusterMarks(deps.scheme)).some(([mark, value]) => found?.marks[mark] !== value)
}
