import type { Marks, Reservation } from '../../clouds/ports/cloud.ts'
import { AddressInUse, type AddressUser, findUsers } from '../record/address-use.ts'
import { type ElasticIP, claimKey } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { adoptionEndMarks, clusterMarks, clusterOfOthers, isUnmarked, wasUnmarked } from '../record/marks.ts'
import { transferAnnotation } from '../record/names.ts'
import { hasSource, isSource } from '../record/source.ts'
import { stayInUse } from '../record/stay-in-use.ts'

type Kept = { marked: ElasticIP; reservationID: string }

/**
 * Why the reservation of a record stays although the record goes; undefined if it may be deleted. Throws AddressInUse
 * while somebody shows or holds the address: then the record stays as well, and says so.
 */
export async function whyKept(
  deps: LedgerDeps,
  { marked, reservationID }: Kept,
  signal: AbortSignal,
): Promise<string | undefined> {
  const found = await deps.cloud.reservation(reservationID, signal)
  // An earlier deletion was carried out although its answer was lost. Whoever shows the address now has it from another
  // reservation.
  if (!found && marked.status?.deletionRequestedAt !== undefined) return undefined
  const foreign = foreignReason(deps, { marked, marks: found?.marks ?? {} })
  if (foreign !== undefined) return foreign
  const address = marked.status?.address ?? found?.address
  const all = await deps.possibleUsers(signal)
  const users = findUsers({ address, reservationID }, all, {
    ...(isSource(marked) ? {} : { service: claimKey(marked), isRelease: true }),
    records: [marked.metadata.name],
  })
  if (users.length === 0) {
    return (
      provisionedReason(all.records, { marked, reservationID }) ?? (await endAdoption(deps, { marked, found }, signal))
    )
  }
  const [holder] = users
  // Two records of one reservation, from a backup for instance: the one that holds it releases it some day.
  if (users.every((user) => isIndependentRecord(user, { marked, reservationID }))) return `${holder?.key} holds it`
  return stayInUse(deps, { record: marked, error: new AddressInUse({ address, reservationID }, users) }, signal)
}

/**
 * Ends the adoption of a reservation that named no cluster: it may be another cluster's, and names none again. Returns why
 * it stays, if it does.
 */
async function endAdoption(
  { cloud, scheme, sweepsUntagged }: LedgerDeps,
  { marked, found }: { marked: ElasticIP; found: Reservation | undefined },
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!found || isSource(marked) || sweepsUntagged || !wasUnmarked(scheme, found.marks)) return undefined
  if (!isUnmarked(scheme, found.marks)) await cloud.mark(found.id, adoptionEndMarks, signal)
  return "it named no cluster when it was adopted, and may be another cluster's; --sweep-untagged deletes such"
}

/** An operator has written a provisioned ElasticIP for the reservation, which waits until this record is gone. */
function provisionedReason(records: readonly ElasticIP[], { marked, reservationID }: Kept): string | undefined {
  const provisioned = records.find(
    ({ metadata, spec }) => metadata.name !== marked.metadata.name && spec.reservationID === reservationID,
  )
  const isWaiting =
    provisioned !== undefined && isSource(provisioned) && provisioned.metadata.deletionTimestamp === undefined
  return isWaiting ? `ElasticIP ${provisioned.metadata.name} names it` : undefined
}

function isIndependentRecord({ record }: AddressUser, { marked, reservationID }: Kept): boolean {
  return record !== undefined && record.status?.reservationID === reservationID && !hasSource(record, marked)
}

/** Why a reservation is not ours to delete. */
function foreignReason(
  { scheme }: Pick<LedgerDeps, 'scheme'>,
  { marked: { metadata, spec }, marks }: { marked: ElasticIP; marks: Marks },
): string | undefined {
  const other = clusterOfOthers(scheme, marks)
  if (other !== undefined) return `its marks name another cluster, ${other}`
  if (spec.reservationID === undefined || spec.reclaimPolicy === 'Delete') return undefined
  const isUnmarked = Object.entries(clusterMarks(scheme)).some(([mark, value]) => marks[mark] !== value)
  // Its marks are ours only so that the other cluster leaves it alone; it is still the operator's.
  const isTransferred = metadata.annotations?.[transferAnnotation] !== undefined
  return isUnmarked || isTransferred ? 'an operator provisioned it' : undefined
}
