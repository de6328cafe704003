import type { Reservation } from '../clouds/cloud.ts'
import type { Key, Service } from '../kube/objects.ts'
import { keyOf } from '../kube/objects.ts'
import { type ElasticIP, claimKey, reservationOf } from './elastic-ip.ts'
import { type MarkScheme, serviceMarks } from './marks.ts'
import type { Want } from './want.ts'

export type SweepSeen = {
  /** Every reservation of the cloud that carries this cluster's marks. */
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
  /** Reservations of live Services that no record knows; where there is a record, it only lacks the answer. */
  adopt: { key: Key; reservation: Reservation; record: ElasticIP | undefined }[]
  release: Reservation[]
  /** Nobody's, as far as this sweep can see: released if the next one agrees and they are old enough. */
  suspects: Set<string>
  /** No reservation is without a record. */
  complete: boolean
}

/** Compares what the cloud has with what the ledger knows and Services want. Pure; it forgets nothing and buys nothing. */
export function planSweep(seen: SweepSeen): SweepPlan {
  const unknown = withoutRecord(seen)
  const owners = ownersByMark(seen)
  const adopt: SweepPlan['adopt'] = []
  const orphans: Reservation[] = []
  for (const reservation of unknown.toSorted(byAge)) {
    const mark = reservation.marks['service'] ?? ''
    const owner = owners.get(mark)
    if (owner && reservation.state !== 'denied') {
      adopt.push({ ...owner, reservation })
      owners.delete(mark)
    } else orphans.push(reservation)
  }
  const most = Math.max(1, Math.floor(seen.reservations.length * seen.share))
  const release = orphans.filter((orphan) => isRipe(orphan, seen)).slice(0, most)
  const suspects = new Set(orphans.map(({ id }) => id))
  return { adopt, release, suspects, complete: orphans.length === 0 }
}

function withoutRecord({ reservations, records }: SweepSeen): Reservation[] {
  const known = new Set(records.map(reservationOf))
  return reservations.filter(({ id }) => !known.has(id))
}

/** Who may take a reservation, by the mark it would carry: a record that waits for one, else a Service without a record. */
function ownersByMark({ records, services, scheme }: SweepSeen) {
  const owners = new Map<string, { key: Key; record: ElasticIP | undefined }>()
  const markOf = (key: Key) => serviceMarks(scheme, key)['service'] ?? ''
  for (const { service, wanted } of services) {
    const key = keyOf(service)
    if (wanted.kind !== 'nothing' && !service.metadata.deletionTimestamp)
      owners.set(markOf(key), { key, record: undefined })
  }
  for (const record of records) {
    const key = claimKey(record)
    if (key === undefined) continue
    if (reservationOf(record) === undefined) owners.set(markOf(key), { key, record })
    else owners.delete(markOf(key))
  }
  return owners
}

function byAge(a: Reservation, b: Reservation): number {
  return (a.createdAt ?? '').localeCompare(b.createdAt ?? '')
}

function isRipe({ id, createdAt }: Reservation, { suspects, now, graceMs }: SweepSeen): boolean {
  const ageMs = now.getTime() - Date.parse(createdAt ?? '')
  return suspects.has(id) && ageMs > graceMs
}
