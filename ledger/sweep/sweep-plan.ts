import type { Reservation } from '../../clouds/cloud.ts'
import type { Key, Service } from '../../kube/objects.ts'
import { keyOf } from '../../kube/objects.ts'
import { type ElasticIP, claimKey, phaseOf, reservationIdOf } from '../record/elastic-ip.ts'
import { type MarkScheme, isUnmarked, ownerMark, serviceMarks } from '../record/marks.ts'
import { isAvailable, isSource, isWarm } from '../record/source.ts'
import type { Want } from '../want/want.ts'

export type SweepSeen = {
  /** Every reservation of the cloud that carries this cluster's marks, or may be its without them. */
  reservations: Reservation[]
  records: ElasticIP[]
  services: { service: Service; wanted: Want }[]
  scheme: MarkScheme
  /** Ids that the last sweep called orphans. */
  suspects: ReadonlySet<string>
  now: Date
  graceMs: number
  /** The part of all reservations that one sweep may release. */
  share: number
}

export type SweepPlan = {
  /** Reservations of live Services, or of the stock, that no record knows; where there is a record, it only lacks the answer. */
  adopt: { key: Key; reservation: Reservation; record: ElasticIP | undefined }[]
  release: Reservation[]
  /** Nobody's, as far as this sweep can see: released if the next one agrees and they are old enough. */
  suspects: Set<string>
  /** In the stock still, although the cloud says which Service has them: what a restored backup would hand out again. */
  stale: ElasticIP[]
  /** No reservation that a claim could use is without a record. */
  complete: boolean
}

/** Compares what the cloud has with what the ledger knows and Services want. Pure; it forgets nothing and buys nothing. */
export function planSweep(seen: SweepSeen): SweepPlan {
  const unknown = withoutRecord(seen)
  const owners = ownersByMark(seen)
  const adopt: SweepPlan['adopt'] = []
  const orphans: Reservation[] = []
  const shown = shownAddresses(seen)
  const isShown = ({ address }: Reservation) => address !== undefined && shown.has(address)
  for (const reservation of unknown.toSorted((a, b) => Number(isShown(b)) - Number(isShown(a)) || byAge(a, b))) {
    const mark = ownerMark(reservation.marks) ?? ''
    const owner = owners.get(mark)
    const isOurs = !isUnmarked(seen.scheme, reservation.marks)
    if (owner && reservation.state !== 'denied' && (isOurs || isFor(owner.key, reservation, seen))) {
      adopt.push({ ...owner, reservation })
      owners.delete(mark)
    } else if (isOurs) orphans.push(reservation)
  }
  const most = Math.max(1, Math.floor(seen.reservations.length * seen.share))
  // Whatever its marks and records say, an address that a live Service shows is in use.
  const release = orphans.filter((orphan) => isRipe(orphan, seen) && !isShown(orphan)).slice(0, most)
  const suspects = new Set(orphans.map(({ id }) => id))
  return { adopt, release, suspects, stale: staleOf(seen), complete: orphans.every(isShown) }
}

function staleOf({ reservations, records }: SweepSeen): ElasticIP[] {
  const taken = new Set(reservations.filter(({ marks }) => marks['service'] !== undefined).map(({ id }) => id))
  return records.filter((record) => isWarm(record) && isAvailable(record) && taken.has(reservationIdOf(record) ?? ''))
}

function withoutRecord({ reservations, records }: SweepSeen): Reservation[] {
  const known = new Set(records.map(reservationIdOf))
  return reservations.filter(({ id }) => !known.has(id))
}

/** Who may take a reservation, by the mark it would carry: a record that waits for one, else a Service without a record. */
function ownersByMark({ records, services, scheme }: SweepSeen) {
  const owners = new Map<string, { key: Key; record: ElasticIP | undefined }>()
  const markOf = (key: Key) => ownerMark(serviceMarks(scheme, key)) ?? ''
  for (const { service } of services.filter(isLive)) {
    const key = keyOf(service)
    owners.set(markOf(key), { key, record: undefined })
  }
  for (const record of records) {
    const { name, uid = '' } = record.metadata
    if (isSource(record) && isWaiting(record)) owners.set(uid, { key: name, record })
    const key = isSource(record) ? undefined : claimKey(record)
    if (key === undefined) continue
    if (isWaiting(record)) owners.set(markOf(key), { key, record })
    else owners.delete(markOf(key))
  }
  return owners
}

/** Whether what names no cluster can be for a Service: another address on it says that somebody else's is of its name. */
function isFor(key: Key, { address }: Reservation, { services }: SweepSeen): boolean {
  const service = services.find((one) => keyOf(one.service) === key)?.service
  return service !== undefined && (service.spec.loadBalancerIP ?? address) === address
}

/** Whether a record waits for what the cloud may have bought for it. */
function isWaiting(record: ElasticIP): boolean {
  return reservationIdOf(record) === undefined && phaseOf(record) === 'Requested' && record.spec.source === undefined
}

function isLive({ service, wanted }: SweepSeen['services'][number]): boolean {
  return wanted.kind !== 'nothing' && !service.metadata.deletionTimestamp
}

function shownAddresses({ services }: SweepSeen): Set<string> {
  const live = services.filter(isLive)
  const ofSpecs = live.map(({ service }) => service.spec.loadBalancerIP)
  const brought = live.map(({ wanted }) => (wanted.kind === 'own' ? wanted.address : undefined))
  const ofStatus = services.flatMap(({ service }) => service.status?.loadBalancer?.ingress ?? []).map(({ ip }) => ip)
  return new Set([...ofSpecs, ...brought, ...ofStatus].filter((address) => address !== undefined))
}

function byAge(a: Reservation, b: Reservation): number {
  return (a.createdAt ?? '').localeCompare(b.createdAt ?? '')
}

function isRipe({ id, createdAt }: Reservation, { suspects, now, graceMs }: SweepSeen): boolean {
  const ageMs = now.getTime() - Date.parse(createdAt ?? '')
  return suspects.has(id) && ageMs > graceMs
}
