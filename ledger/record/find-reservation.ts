import type { Marks, Reservation } from '../../clouds/cloud.ts'
import type { LedgerDeps } from '../claim/ask.ts'
import { type ElasticIP, claimKey, reservationIdOf } from './elastic-ip.ts'
import { serviceMarks, sourceMarks } from './marks.ts'
import { isBeingReleased } from '../release/release-record.ts'
import { isSource } from './source.ts'

/** The reservation that the cloud has for a record: by its id, else the oldest that carries its marks. */
export async function findReservation(
  deps: LedgerDeps,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<Reservation | undefined> {
  const id = reservationIdOf(record)
  const known = id === undefined ? undefined : await deps.cloud.reservation(id, signal)
  if (known) return known
  const marked = await deps.cloud.reservations(marksOf(deps, record), signal)
  const granted = marked.filter(({ state }) => state !== 'denied')
  for (const found of granted.toSorted((a, b) => (a.createdAt ?? '').localeCompare(b.createdAt ?? ''))) {
    if (!(await isBeingReleased(deps, found.id, signal))) return found
  }
  return undefined
}

/** The marks by which a record's reservation is known: its Service's, or its own while it is nobody's. */
export function marksOf({ scheme }: Pick<LedgerDeps, 'scheme'>, record: ElasticIP): Marks {
  const key = isSource(record) ? undefined : claimKey(record)
  return key === undefined ? sourceMarks(scheme, record.metadata.uid ?? '') : serviceMarks(scheme, key)
}
