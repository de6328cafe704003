import type { Marks, Reservation } from '../clouds/cloud.ts'
import type { AskParts } from './ask.ts'
import { type ElasticIP, claimKey, reservationOf } from './elastic-ip.ts'
import { serviceMarks, stockMarks } from './marks.ts'
import { isReturning } from './returning.ts'
import { isStock } from './stock.ts'

/** The reservation that the cloud has for a record: by its id, else the oldest that carries its marks. */
export async function findReservation(
  parts: AskParts,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<Reservation | undefined> {
  const id = reservationOf(record)
  const known = id === undefined ? undefined : await parts.cloud.reservation(id, signal)
  if (known) return known
  const marked = await parts.cloud.reservations(marksOf(parts, record), signal)
  const granted = marked.filter(({ state }) => state !== 'denied')
  for (const found of granted.toSorted((a, b) => (a.createdAt ?? '').localeCompare(b.createdAt ?? ''))) {
    if (!(await isReturning(parts, found.id, signal))) return found
  }
  return undefined
}

/** The marks by which a record's reservation is known: its Service's, or its own while it is nobody's. */
export function marksOf({ scheme }: Pick<AskParts, 'scheme'>, record: ElasticIP): Marks {
  const key = isStock(record) ? undefined : claimKey(record)
  return key === undefined ? stockMarks(scheme, record.metadata.uid ?? '') : serviceMarks(scheme, key)
}
