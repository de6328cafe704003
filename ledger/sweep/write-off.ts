import type { Reservation } from '../../clouds/ports/cloud.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { type ElasticIP, phaseOf, reservationIdOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { marksOf, marksText, foreignReasonOf, whoseIs } from '../record/marks.ts'
import { correctRecord, resetRecord } from '../record/reset-record.ts'
import { hasSource, isSource, isWarm } from '../record/source.ts'
import { detachFromSource } from '../release/release.ts'
import { type LossConfirmation, isLossLikely } from '../identity/project-check.ts'
import { hasOneOfOurs } from '../identity/project-plan.ts'
import { type OwnerDeps, warnOwner } from './failures.ts'

/** The most reservations that one sweep deletes or writes off, out of all: a wrong list must not empty a project. */
export const mostOf = (all: number): number => Math.max(1, Math.floor(all * 0.1))

export type WriteOffDeps = LedgerDeps & OwnerDeps & { listRecords: () => ElasticIP[]; loss: LossConfirmation }

/** A record whose reservation or address is missing from a list, or belongs to another record of ours, the rival. */
type Missing = { record: ElasticIP; rival?: ElasticIP | undefined }

/**
 * Writes off what both this sweep and the last one missed. Each costs a call, so only a few are checked, the
 * longest-waiting first. Returns the ids that still wait. A checked one must be missed twice again.
 */
export async function writeOffMissing(
  deps: WriteOffDeps,
  { reservations, missing }: { reservations: Reservation[]; missing: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<Set<string>> {
  const all = deps.listRecords()
  const records = new Map(
    missingFrom(deps, { reservations, records: all }).map((one) => [reservationIdOf(one.record) ?? '', one]),
  )
  const missedTwice = [...missing].filter((id) => records.has(id))
  const missedOnce = [...records.keys()].filter((id) => !missing.has(id))
  const held = all.flatMap((record) => reservationIdOf(record) ?? [])
  const isLikely = isLossLikely({ listed: reservations, held, cluster: deps.scheme.cluster, missing: records.size })
  // A list without any of this cluster does not say whether provisioned addresses are still missing.
  if (records.size === 0 && hasOneOfOurs(reservations, { held, cluster: deps.scheme.cluster }))
    await deps.loss.end(signal)
  const isDoubtful = missedTwice.length > 0 && !isLikely && !(await deps.loss.isGiven(signal))
  const isOther = isDoubtful && !(await isAnyInProject(deps, records, signal))
  if (isOther) await deps.loss.warn(signal)
  const due = isOther ? [] : missedTwice.slice(0, mostOf(all.length))
  for (const one of due.flatMap((id) => records.get(id) ?? [])) {
    if (one.rival) await yieldAddress(deps, { record: one.record, rival: one.rival }, signal)
    else await writeOff(deps, one.record, signal)
  }
  return new Set([...missedTwice.slice(due.length), ...missedOnce])
}

/**
 * Whether the project has one of these reservations after all. Our lists leave out reservations that name an old id of
 * this cluster.
 */
async function isAnyInProject(
  { cloud }: WriteOffDeps,
  records: ReadonlyMap<string, Missing>,
  signal: AbortSignal,
): Promise<boolean> {
  return (await cloud.reservations({}, signal)).some(({ id }) => records.has(id))
}

/**
 * The records whose reservation is not listed: it was deleted, or the list is incomplete. Also records whose id or
 * address the list has for another record of ours. That record waits until this one releases it.
 */
function missingFrom(
  deps: WriteOffDeps,
  { reservations, records }: { reservations: Reservation[]; records: ElasticIP[] },
): Missing[] {
  const listed = new Map(reservations.map((one) => [one.id, one]))
  const byId = Map.groupBy(records, reservationIdOf)
  return records.flatMap((record): Missing[] => {
    const id = reservationIdOf(record)
    const hasAddress = ['Reserved', 'Bound', 'Released', 'Available'].includes(phaseOf(record))
    if (!hasAddress || !hasOurMarks(record) || id === undefined) return []
    const found = listed.get(id)
    if (!found) return [{ record }]
    const isAnothers = (other: ElasticIP) =>
      !hasSource(record, other) && !hasSource(other, record) && !whoseIs(deps, other, found).isLost
    const { whose, isLost } = whoseIs(deps, record, found)
    if (isLost) return byId.get(id)?.some(isAnothers) ? [{ record }] : []
    if (whose !== 'changed') return []
    const rival = records.find((other) =>
      isOfRival(deps, record, { other, found: listed.get(reservationIdOf(other) ?? '') }),
    )
    return rival ? [{ record, rival }] : []
  })
}

/** Whether another record's own reservation has the address of a record. */
function isOfRival(
  deps: WriteOffDeps,
  { status }: ElasticIP,
  { other, found }: { other: ElasticIP; found: Reservation | undefined },
): boolean {
  const isSame = canonicalIpAddress(found?.address ?? '') === canonicalIpAddress(status?.address ?? '')
  return found !== undefined && isSame && whoseIs(deps, other, found).whose === 'ours'
}

/**
 * Gives a record its own reservation's address if its current one belongs to another record's reservation by now. The
 * other Service waits for it, and no node announces this one.
 */
async function yieldAddress(
  deps: WriteOffDeps,
  { record, rival }: Required<Missing> & { rival: ElasticIP },
  signal: AbortSignal,
): Promise<void> {
  const found = await deps.cloud.reservation(reservationIdOf(rival) ?? '', signal)
  if (!isOfRival(deps, record, { other: rival, found })) return
  const address = await correctRecord(deps, record, signal)
  if (address === undefined) return
  const message =
    `${deps.cloud.name} has ${record.status?.address} in reservation ${found?.id} of another ElasticIP, and ${address} in ` +
    `reservation ${reservationIdOf(record)} of this Service: the Service gets ${address}`
  warnOwner(deps, record, { reason: 'ContradictoryAddress', message })
}

/** Whether a record's reservation should carry our marks: a provisioned one need not. */
function hasOurMarks(record: ElasticIP): boolean {
  return isSource(record) ? isWarm(record) : record.spec.source?.type !== 'Provisioned'
}

/**
 * Writes off a reservation that two lists missed, unless its id still belongs to our reservation at the provider. A Service
 * that held its address gets another one. The record of a warm or retained address is removed, because no Service uses it.
 */
async function writeOff(deps: WriteOffDeps, record: ElasticIP, signal: AbortSignal): Promise<void> {
  const facts = { record: record.metadata.name, address: record.status?.address, reservation: reservationIdOf(record) }
  if (facts.reservation === undefined) return
  const found = await deps.cloud.reservation(facts.reservation, signal)
  const verdict = found && whoseIs(deps, record, found)
  if (found && verdict && !verdict.isLost) {
    // It still exists. If it names a previous id of this cluster, the person who confirmed the new id decides about it.
    if (verdict.whose !== 'nobody') return
    const text = foreignReasonOf(deps, record, found)
    const message =
      `${deps.cloud.name} has reservation ${found.id} (${found.address}), but ${text}: it is neither moved nor deleted. ` +
      `If it is this Service's, restore its marks (${marksText(marksOf(deps.scheme, record))}); else delete the Service and create it again`
    deps.log.warn({ ...facts, reason: message }, 'an address has lost its marks')
    return warnOwner(deps, record, { reason: 'ContradictoryAddress', message })
  }
  deps.log.error(facts, 'the provider no longer has this address')
  const isUnused = isWarm(record) ? phaseOf(record) === 'Available' : phaseOf(record) === 'Released'
  const detached = await detachFromSource(deps, record, signal)
  if (isUnused) await deps.records.remove(detached, { signal })
  else if (!isWarm(record)) await resetRecord(deps, detached, signal)
}
