import type { Reservation, MarkScheme } from '../../clouds/ports/cloud.ts'
import { type Service, keyOf } from '../../kube/objects.ts'
import { canonicalIpAddress } from '../../lib/ip-address.ts'
import { statusAddresses, isShownBy, showsNone } from '../record/address-use.ts'
import {
  type AddressKey,
  type ElasticIP,
  addressKeyOf,
  isSecondKey,
  phaseOf,
  reservationIdOf,
  secondKey,
  secondKeys,
} from '../record/elastic-ip.ts'
import { hasFamily, mayAdopt } from '../record/find-reservation.ts'
import { isRetained, namedCluster, ownerMark, ownerMarks, wasUnmarked } from '../record/marks.ts'
import { droppedRequestAnnotation } from '../record/names.ts'
import { isAdoptionBegun } from '../record/records.ts'
import { isAvailable, isSource, isWarm } from '../record/source.ts'
import { heirOfOrphan } from '../release/heir.ts'
import { requestsAsOwn } from '../want/own-address-rules.ts'
import type { Want } from '../want/want.ts'
import type { Adoption } from './adopt.ts'

export type LiveService = { service: Service; wanted: Want }

/** An address that a live Service wants, or may want. */
export type LiveAddress = LiveService & { key: AddressKey }

/** A reservation that a live Service does not need, and the record that holds another one for it. */
export type Surplus = LiveAddress & { reservation: Reservation; holder: ElasticIP | undefined }

/** A reservation whose Service and record are deleted, and another Service that uses its address. */
export type PassingOrphan = { reservation: Reservation; heir: Service }

export type SweepSeen = {
  /** Every reservation with this cluster's marks, and those that may be its own without them. */
  reservations: Reservation[]
  records: ElasticIP[]
  services: LiveService[]
  requestAnnotations: readonly string[]
  scheme: MarkScheme
  /** The orphans of the last sweep, each with the time since a sweep of this process first saw it. */
  suspects: ReadonlyMap<string, number>
  graceMs: number
  /** Whether to treat a reservation that names no cluster and whose Service is deleted as an orphan like any other. */
  sweepsUntagged: boolean
  /** Whether orphans are only reported, and stay. */
  keepsOrphans?: boolean
}

export type SweepPlan = {
  /** Reservations without a record that belong to a live Service or a waiting record. */
  adopt: Adoption[]
  /** The orphans to release now. */
  release: Reservation[]
  /** Orphans that would be released now, and the Services that use them: their marks must name those. */
  pass: PassingOrphan[]
  /** Reservations with the marks of a live Service that has another address: reported and kept. */
  surplus: Surplus[]
  /** Reservations that name no cluster and are not proven ours: reported, because they may be another cluster's. */
  untagged: Reservation[]
  /** Ids of the orphans that this sweep sees: released if the next one agrees and they are old enough. */
  suspects: Set<string>
  /** Warm records whose reservation is a Service's by its marks: a restored backup would give it to a second Service. */
  alreadyTransferred: ElasticIP[]
  /** The owners of orphans that stay, by their marks: a claim for such an owner must look for its reservation. */
  unadopted: string[]
  /** Whether every other reservation that a claim could use has a record. */
  isComplete: boolean
}

/**
 * Compares the provider's reservations with records and Services. Pure: it deletes nothing and buys nothing.
 *
 * The rows for a reservation without a record. Its owner is the Service or the waiting record that its marks name. For
 * the second address of a Service, "live" means a Service that wants two, or may want them:
 *
 * | names our cluster | owner                              | shown by a live Service | plan                               |
 * | ----------------- | ---------------------------------- | ----------------------- | ---------------------------------- |
 * | yes               | yes, and it wants one of ours      | either                  | adopt; the oldest one, shown first |
 * | yes               | a live Service that has another    | either                  | report and keep                    |
 * | yes               | none, or the reservation is denied | yes                     | suspect, and stays; passes to      |
 * |                   |                                    |                         | a Service when it would be due, if |
 * |                   |                                    |                         | only those of one namespace that   |
 * |                   |                                    |                         | request the address show it        |
 * | yes               | none, or the reservation is denied | no                      | suspect; released when the last    |
 * |                   |                                    |                         | sweep suspected it too, and we     |
 * |                   |                                    |                         | have seen it for the grace period  |
 * | yes               | none, and its marks say that it is | no                      | suspect, and stays                 |
 * |                   | retained                           |                         |                                    |
 * | no cluster        | a Service that shows this address  | yes                     | adopt; then it names our cluster   |
 * | no cluster        | a Service that shows another one   | either                  | nothing                            |
 * | no cluster        | a Service that shows none          | either                  | report: it may be another          |
 * |                   |                                    |                         | cluster's; with --sweep-untagged   |
 * |                   |                                    |                         | adopt                              |
 * | no cluster        | none                               | either                  | report; with --sweep-untagged as   |
 * |                   |                                    |                         | if it named our cluster            |
 * | no, when adopted  | none                               | either                  | report; the same                   |
 *
 * A reservation whose adoption into the record of its Service was interrupted: adopt, by the same rules; else nothing.
 * A reservation whose record is warm and available, but whose marks name a Service: the record is removed.
 */
export function planSweep(seen: SweepSeen): SweepPlan {
  const { adopt, orphans, surplus, untagged } = sortOut(seen)
  // An address that a Service shows is in use, whatever its marks and the records say. A mere request is not enough.
  const isUsed = isAmong(seen.services.flatMap(({ service }) => statusAddresses(service)))
  const due = orphans.filter((orphan) => isDue(orphan, seen))
  const release = due.filter((orphan) => !isUsed(orphan))
  const pass = seen.keepsOrphans ? [] : due.flatMap((reservation) => passingOf(reservation, seen))
  const suspects = new Set(orphans.map(({ id }) => id))
  const staying = orphans.filter(({ marks }) => seen.keepsOrphans || isRetained(marks))
  const unadopted = [...new Set(staying.flatMap(({ marks }) => ownerMark(marks) ?? []))]
  const isComplete = orphans.every((one) => isUsed(one) || staying.includes(one)) && surplus.every(isSettled)
  const reported = surplus.filter((one) => isSettled(one) || isOfOtherFamily(one))
  const alreadyTransferred = transferredIn(seen)
  return { adopt, release, pass, surplus: reported, untagged, suspects, alreadyTransferred, unadopted, isComplete }
}

/** Sorts the reservations without a record by kind. */
function sortOut(seen: SweepSeen) {
  const owners = ownersByMark(seen)
  const live = liveByMark(seen)
  const adopt: Adoption[] = []
  const orphans: Reservation[] = []
  const surplus: Surplus[] = []
  const untagged: Reservation[] = []
  const interrupted = new Set(seen.records.filter(isAdoptionInterrupted).map(reservationIdOf))
  for (const reservation of withoutRecord(seen, interrupted).toSorted(shownAndOldestFirst(live, seen))) {
    const mark = ownerMark(reservation.marks) ?? ''
    const owner = ownerFor(owners.get(mark), reservation)
    const service = live.get(mark)
    const isOurs = namedCluster(seen.scheme, reservation.marks) === 'ours'
    const hasRecord = interrupted.has(reservation.id)
    if (owner && reservation.state !== 'denied' && canAdopt(service, reservation, seen)) {
      adopt.push({ ...owner, reservation })
      for (const one of [mark, ...ownerMarks(seen.scheme, owner.key)]) owners.delete(one)
    } else if (hasRecord) continue
    else if (isOurs && service && reservation.state !== 'denied' && !hasDroppedRequest(service, seen)) {
      surplus.push({ ...service, reservation, holder: holderOf(service.key, seen.records) })
    } else if (isOrphan(reservation, { isOurs, service }, seen)) orphans.push(reservation)
    else if (!service || isOurs || showsNone(service.service)) untagged.push(reservation)
  }
  return { adopt, orphans, surplus, untagged }
}

function transferredIn({ reservations, records }: SweepSeen): ElasticIP[] {
  const ofServices = new Set(reservations.filter(({ marks }) => marks['service'] !== undefined).map(({ id }) => id))
  return records.filter(
    (record) => isWarm(record) && isAvailable(record) && ofServices.has(reservationIdOf(record) ?? ''),
  )
}

/** The reservations without a record, and those whose adoption was begun but not completed. */
function withoutRecord(
  { reservations, records }: SweepSeen,
  interrupted: ReadonlySet<string | undefined>,
): Reservation[] {
  const known = new Set(records.map(reservationIdOf)).difference(interrupted)
  return reservations.filter(({ id }) => !known.has(id))
}

type Owner = { key: AddressKey; record: ElasticIP | undefined }

/** An interrupted adoption continues only with its own reservation. */
function ownerFor(owner: Owner | undefined, { id }: Reservation): Owner | undefined {
  const begun = owner?.record && reservationIdOf(owner.record)
  return begun === undefined || begun === id ? owner : undefined
}

/** The possible adopters of a reservation, by its mark: a record that waits for one, or a Service without a record. */
function ownersByMark({ records, services, scheme }: SweepSeen) {
  const owners = new Map<string, Owner>()
  const setOwner = (key: AddressKey, record: ElasticIP | undefined) => {
    for (const mark of ownerMarks(scheme, key)) owners.set(mark, { key, record })
  }
  for (const { key } of services.flatMap(liveAddresses)) setOwner(key, undefined)
  for (const record of records) {
    const { name, uid = '' } = record.metadata
    if (isSource(record) && isAwaitingReservation(record)) owners.set(uid, { key: name, record })
    const key = addressKeyOf(record)
    if (key === undefined) continue
    if (isAwaitingReservation(record) || isAdoptionInterrupted(record)) setOwner(key, record)
    else for (const mark of ownerMarks(scheme, key)) owners.delete(mark)
  }
  return owners
}

/**
 * Whether a Service may get a reservation. A Service that has a user-chosen address, requests one by name or is not ours would
 * soon release it. Then no object would name the reservation. A waiting record needs no Service, which may still come.
 */
function canAdopt(live: LiveAddress | undefined, reservation: Reservation, seen: SweepSeen): boolean {
  if (!mayAdopt(seen, reservation, live?.service)) return false
  if (!live) return true
  const { wanted } = live
  if (wanted.kind === 'own') return requestsAsOwn(wanted, reservation.address ?? '')
  return wanted.kind === 'reserve' ? hasFamilyOf(live, reservation) : wanted.kind === 'wrong'
}

/** Whether a reservation is of the family of a live address. */
function hasFamilyOf({ key, wanted }: LiveAddress, reservation: Reservation): boolean {
  if (wanted.kind !== 'reserve') return false
  const family = isSecondKey(key) ? wanted.second?.family : wanted.family
  return family !== undefined && hasFamily(reservation, family)
}

function isOrphan(
  { marks }: Reservation,
  { isOurs, service }: { isOurs: boolean; service: LiveAddress | undefined },
  { scheme, sweepsUntagged }: SweepSeen,
): boolean {
  return sweepsUntagged ? isOurs || !service : !wasUnmarked(scheme, marks)
}

/** Whether a Service's earlier request may have bought an address that it no longer wants, and that is no one else's. */
function hasDroppedRequest({ key }: LiveAddress, { records }: SweepSeen): boolean {
  const record = records.find((one) => addressKeyOf(one) === key)
  return record?.metadata.annotations?.[droppedRequestAnnotation] !== undefined
}

/** The record of a live address that holds a reservation. */
function holderOf(key: AddressKey, records: ElasticIP[]): ElasticIP | undefined {
  const holder = records.find((record) => addressKeyOf(record) === key)
  return holder && reservationIdOf(holder) !== undefined ? holder : undefined
}

/** Whether a Service no longer needs a surplus reservation, so that its claim would not look for one. */
function isSettled({ holder, wanted }: Surplus): boolean {
  return holder ? phaseOf(holder) !== 'Releasing' : !['reserve', 'wrong'].includes(wanted.kind)
}

/** Whether a Service cannot use a reservation. The next Service of that name may. */
function isOfOtherFamily({ reservation, ...live }: Surplus): boolean {
  return live.wanted.kind === 'reserve' && !hasFamilyOf(live, reservation)
}

/** Whether the provider may have reserved an address for a record that does not know of it. */
function isAwaitingReservation(record: ElasticIP): boolean {
  return reservationIdOf(record) === undefined && phaseOf(record) === 'Requested' && record.spec.source === undefined
}

function passingOf(reservation: Reservation, { services, records }: SweepSeen): PassingOrphan[] {
  const keys = new Set(records.map(addressKeyOf))
  const candidates = services.filter((live) => isLive(live))
  const heir = heirOfOrphan(reservation, { services: candidates, hasRecord: (key) => keys.has(key) })
  return heir ? [{ reservation, heir }] : []
}

/** Whether a process died, or a call failed, while it adopted a reservation for a Service. */
function isAdoptionInterrupted(record: ElasticIP): boolean {
  return (
    isAdoptionBegun(record) && addressKeyOf(record) !== undefined && record.metadata.deletionTimestamp === undefined
  )
}

/** The addresses of Services that exist and want them, by the mark of their reservations. */
function liveByMark({ services, scheme }: SweepSeen): Map<string, LiveAddress> {
  return new Map(
    services
      .flatMap(liveAddresses)
      .flatMap((live) => ownerMarks(scheme, live.key).map((mark) => [mark, live] as const)),
  )
}

/** The addresses that a Service wants; all possible ones if its want cannot be known. */
function liveAddresses(live: LiveService): LiveAddress[] {
  const { service, wanted } = live
  if (!isLive(live)) return []
  const key = keyOf(service)
  const isOpen = wanted.kind === 'wrong' || wanted.kind === 'ignored'
  const second = wanted.kind === 'reserve' && wanted.second ? [secondKey(key, wanted.second.family)] : []
  return [key, ...(isOpen ? secondKeys(key) : second)].map((one) => ({ ...live, key: one }))
}

function isLive({ service, wanted }: LiveService): boolean {
  return wanted.kind !== 'nothing' && !service.metadata.deletionTimestamp
}

function isAmong(shown: readonly string[]): (one: Reservation) => boolean {
  const addresses = new Set<string | undefined>(shown)
  return ({ address }) => address !== undefined && addresses.has(canonicalIpAddress(address))
}

function shownAndOldestFirst(
  live: ReadonlyMap<string, LiveAddress>,
  { requestAnnotations }: Pick<SweepSeen, 'requestAnnotations'>,
) {
  const isShown = (one: Reservation) => {
    const { service } = live.get(ownerMark(one.marks) ?? '') ?? {}
    return service !== undefined && isShownBy(service, one, requestAnnotations)
  }
  return (a: Reservation, b: Reservation) =>
    Number(isShown(b)) - Number(isShown(a)) || (a.createdAt ?? '').localeCompare(b.createdAt ?? '')
}

/** Whether two sweeps in a row saw an orphan without a retained mark, and the first sight is older than the grace period. */
function isDue({ id, marks }: Reservation, { suspects, graceMs }: SweepSeen): boolean {
  return !isRetained(marks) && (suspects.get(id) ?? -Infinity) > graceMs
}
