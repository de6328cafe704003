import type { AskParts } from './ask.ts'
import { type ElasticIP, reservationOf } from './elastic-ip.ts'
import { clusterMarks } from './marks.ts'

/** Gives the reservation of a record back, and takes the record off the book once the cloud has it no more. */
export async function giveBack(parts: AskParts, record: ElasticIP, signal: AbortSignal): Promise<'gone' | 'going'> {
  const reservation = reservationOf(record)
  const stays = reservation !== undefined && (await isTheirs(parts, record, signal))
  if (reservation !== undefined && !stays) {
    await parts.cloud.release(reservation, signal)
    if (await parts.cloud.reservation(reservation, signal)) return 'going'
  }
  await parts.records.remove(record)
  const { name } = record.metadata
  const said = stays ? 'record removed, its reservation was made by others and stays' : 'address released'
  parts.log.info({ record: name, address: record.status?.address, reservation }, said)
  return 'gone'
}

/** Whether a reservation was made by somebody else, who did not ask that it be deleted. */
async function isTheirs(parts: AskParts, { spec }: ElasticIP, signal: AbortSignal): Promise<boolean> {
  if (spec.reservationID === undefined || spec.reclaimPolicy === 'Delete') return false
  const found = await parts.cloud.reservation(spec.reservationID, signal)
  return Object.entries(clusterMarks(parts.scheme)).some(([mark, value]) => found?.marks[mark] !== value)
}
