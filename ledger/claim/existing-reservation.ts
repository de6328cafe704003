import type { Reservation } from '../../clouds/ports/cloud.ts'
import { inUseBy } from '../available/claim-source.ts'
import { type ElasticIP, claimKey } from '../record/elastic-ip.ts'
import { adoptUnmarked, findReservation } from '../record/find-reservation.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { takeFromCluster, unusableReason } from '../record/unusable-reservation.ts'

/**
 * What an earlier request or a predecessor reserved for a record; or why the record cannot have the reservation that a
 * person wrote into it.
 */
export async function findExisting(
  deps: LedgerDeps,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<Reservation | string | undefined> {
  const found = (await findReservation(deps, record, signal)) ?? (await adoptUnmarked(deps, record, signal))
  const isNamed = found !== undefined && record.spec.reservationID === found.id
  if (!isNamed || record.status?.reservationID !== undefined) return found
  const reason = unusableReason(deps, record, found)
  if (reason !== undefined) return reason
  const used = { address: found.address, reservationID: found.id }
  const names = [record.metadata.name]
  const error = await inUseBy(deps, { used, key: claimKey(record), names }, signal)
  if (error) return error.message
  await takeFromCluster(deps, found, signal)
  return found
}
