import type { Reservation } from '../../clouds/cloud.ts'
import type { LedgerDeps } from '../claim/ask.ts'
import { type ElasticIP, phaseOf, reservationIdOf } from '../record/elastic-ip.ts'
import { detachFromSource } from '../available/transfer.ts'
import { isSource, isWarm } from '../record/source.ts'

/** Records whose reservation is not in a list: it vanished, or the list does not tell everything. */
export function recordsMissingFrom(reservations: Reservation[], records: ElasticIP[]): ElasticIP[] {
  const listed = new Set(reservations.map(({ id }) => id))
  return records.filter((record) => {
    const id = reservationIdOf(record)
    const hasAddress = ['Reserved', 'Bound', 'Released', 'Available'].includes(phaseOf(record))
    return hasAddress && isMarked(record) && id !== undefined && !listed.has(id)
  })
}

/** Whether the reservation carries our marks, as far as the record says: what a person provisioned need not. */
function isMarked(record: ElasticIP): boolean {
  return isSource(record) ? isWarm(record) : record.spec.source?.type !== 'Provisioned'
}

/**
 * Writes off a reservation that two lists did not have, if the cloud says of itself that there is no such thing. A
 * Service that held its address gets another one; a retained address has nobody who would miss the record.
 */
export async function writeOff(deps: LedgerDeps, record: ElasticIP, signal: AbortSignal): Promise<void> {
  const id = reservationIdOf(record)
  if (id === undefined || (await deps.cloud.reservation(id, signal))) return
  const { address } = record.status ?? {}
  deps.log.error({ record: record.metadata.name, address, reservation: id }, 'the cloud no longer has this address')
  if (isWarm(record)) return phaseOf(record) === 'Available' ? deps.records.remove(record) : undefined
  if (phaseOf(record) === 'Released') return deps.records.remove(await detachFromSource(deps, record))
  await resetRecord(deps, await detachFromSource(deps, record))
}

/** Lets a record begin again without the address that it had. */
export async function resetRecord(deps: LedgerDeps, record: ElasticIP): Promise<void> {
  const { address, reservationID: id } = record.status ?? {}
  // An adopted address may be in no place, and a record has to name one or the other: the next claim says where.
  const { reservationID: _gone, location = '', ...rest } = record.spec
  const spec = { ...rest, location }
  const current = record.spec.reservationID === undefined ? record : await deps.records.writeSpec(record, spec)
  await deps.records.writeStatus(current, {
    phase: 'Requested',
    address: undefined,
    reservationID: undefined,
    message: `${deps.cloud.name} no longer has ${address}, reservation ${id}`,
  })
}
