import type { AskParts } from './ask.ts'
import { type ElasticIP, reservationOf } from './elastic-ip.ts'

/** Gives the reservation of a record back, and takes the record off the book once the cloud has it no more. */
export async function giveBack(parts: AskParts, record: ElasticIP, signal: AbortSignal): Promise<'gone' | 'going'> {
  const reservation = reservationOf(record)
  if (reservation !== undefined) {
    await parts.cloud.release(reservation, signal)
    if (await parts.cloud.reservation(reservation, signal)) return 'going'
  }
  await parts.records.remove(record)
  const { name } = record.metadata
  parts.log.info({ record: name, address: record.status?.address, reservation }, 'address released')
  return 'gone'
}
