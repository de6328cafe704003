import type { Reservation } from '../../clouds/ports/cloud.ts'
import { type ElasticIP, phaseOf, reservationIdOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { resetRecord } from '../record/reset-record.ts'
import { isSource, isWarm } from '../record/source.ts'
import { detachFromSource } from './release.ts'

/** The records whose reservation is not in a list: it is gone, or the list is incomplete. */
export function recordsMissingFrom(reservations: Reservation[], records: ElasticIP[]): ElasticIP[] {
  const listed = new Set(reservations.map(({ id }) => id))
  return records.filter((record) => {
    const id = reservationIdOf(record)
    const hasAddress = ['Reserved', 'Bound', 'Released', 'Available'].includes(phaseOf(record))
    return hasAddress && hasOurMarks(record) && id !== undefined && !listed.has(id)
  })
}

/** Whether the reservation carries our marks, as far as the record shows: a provisioned one need not. */
function hasOurMarks(record: ElasticIP): boolean {
  return isSource(record) ? isWarm(record) : record.spec.source?.type !== 'Provisioned'
}

/**
 * Writes off a reservation that two lists missed, if the cloud does not find it by its id either. A Service that held its
 * address gets another one; the record of a warm or retained address is removed, for no Service uses it.
 */
export async function writeOff(deps: LedgerDeps, record: ElasticIP, signal: AbortSignal): Promise<void> {
  const id = reservationIdOf(record)
  if (id === undefined || (await deps.cloud.reservation(id, signal))) return
  const { address } = record.status ?? {}
  deps.log.error({ record: record.metadata.name, address, reservation: id }, 'the cloud no longer has this address')
  if (isWarm(record)) return phaseOf(record) === 'Available' ? deps.records.remove(record, { signal }) : undefined
  const detached = await detachFromSource(deps, record, signal)
  if (phaseOf(record) === 'Released') return deps.records.remove(detached, { signal })
  await resetRecord(deps, detached, signal)
}
