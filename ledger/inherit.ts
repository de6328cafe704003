import type { Reservation } from '../clouds/cloud.ts'
import type { AskParts } from './ask.ts'
import { type ElasticIP, claimKey } from './elastic-ip.ts'
import { clusterMarks, isUnmarked, serviceMarks } from './marks.ts'
import { isStock } from './stock.ts'

type Heir = Pick<AskParts, 'cloud' | 'scheme'>

/** The reservation that a predecessor made for a record's Service without saying for which cluster; now it says so. */
export async function inherit(parts: Heir, record: ElasticIP, signal: AbortSignal): Promise<Reservation | undefined> {
  const { cloud, scheme } = parts
  const key = isStock(record) ? undefined : claimKey(record)
  if (!scheme.inheritsUnmarked || key === undefined) return undefined
  const { cluster: _unsaid, ...marks } = serviceMarks(scheme, key)
  const left = (await cloud.reservations(marks, signal)).filter((one) => isUnmarked(scheme, one.marks))
  const [found] = left
    .filter(({ state }) => state !== 'denied')
    .toSorted((a, b) => (a.createdAt ?? '').localeCompare(b.createdAt ?? ''))
  if (found) await makeOurs(parts, found, signal)
  return found
}

/** Writes on a reservation which cluster's it is, where nobody has: other clusters leave it alone from then on. */
export async function makeOurs(parts: Heir, { id, marks }: Reservation, signal: AbortSignal): Promise<void> {
  if (isUnmarked(parts.scheme, marks)) await parts.cloud.mark(id, clusterMarks(parts.scheme), signal)
}
