import type { Reservation } from '../clouds/cloud.ts'
import type { AskParts } from './ask.ts'
import { type ElasticIP, phaseOf, reservationOf } from './elastic-ip.ts'
import { takeOver } from './hand-over.ts'
import { isStock, isWarm } from './stock.ts'

/** Records whose reservation is not in a list: it vanished, or the list does not tell everything. */
export function missingFrom(reservations: Reservation[], records: ElasticIP[]): ElasticIP[] {
  const listed = new Set(reservations.map(({ id }) => id))
  return records.filter((record) => {
    const id = reservationOf(record)
    const hasAddress = ['Reserved', 'Bound', 'Released', 'Available'].includes(phaseOf(record))
    return hasAddress && isMarked(record) && id !== undefined && !listed.has(id)
  })
}

/** Whether the reservation carries our marks, as far as the record says: what a person provisioned need not. */
function isMarked(record: ElasticIP): boolean {
  return isStock(record) ? isWarm(record) : record.spec.from?.lent !== true
}

/**
 * Writes off a reservation that two lists did not have, if the cloud says of itself that there is no such thing. A
 * Service that held its address gets another one; a retained address has nobody who would miss the record.
 */
export async function writeOff(parts: AskParts, record: ElasticIP, signal: AbortSignal): Promise<void> {
  const id = reservationOf(record)
  if (id === undefined || (await parts.cloud.reservation(id, signal))) return
  const { address } = record.status ?? {}
  parts.log.error({ record: record.metadata.name, address, reservation: id }, 'the cloud no longer has this address')
  if (isWarm(record)) return phaseOf(record) === 'Available' ? parts.records.remove(record) : undefined
  if (phaseOf(record) === 'Released') return parts.records.remove(await takeOver(parts, record))
  await forget(parts, await takeOver(parts, record))
}

/** Lets a record begin again without the address that it had. */
export async function forget(parts: AskParts, record: ElasticIP): Promise<void> {
  const { address, reservationID: id } = record.status ?? {}
  // An adopted address may be in no place, and a record has to name one or the other: the next claim says where.
  const { reservationID: _gone, location = '', ...rest } = record.spec
  const spec = { ...rest, location }
  const current = record.spec.reservationID === undefined ? record : await parts.records.writeSpec(record, spec)
  await parts.records.writeStatus(current, {
    phase: 'Requested',
    address: undefined,
    reservationID: undefined,
    message: `${parts.cloud.name} no longer has ${address}, reservation ${id}`,
  })
}
