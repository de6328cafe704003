import type { Reservation } from '../../clouds/cloud.ts'
import type { LedgerDeps } from './ask.ts'
import { type ElasticIP, claimKey } from '../record/elastic-ip.ts'
import { clusterMarks, isUnmarked, serviceMarks } from '../record/marks.ts'
import { isSource } from '../record/source.ts'

type Heir = Pick<LedgerDeps, 'cloud' | 'scheme'>

/** The reservation that a predecessor made for a record's Service without saying for which cluster; now it says so. */
export async function adoptUnmarked(
  deps: Heir,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<Reservation | undefined> {
  const { cloud, scheme } = deps
  const key = isSource(record) ? undefined : claimKey(record)
  if (!scheme.adoptsUnmarked || key === undefined) return undefined
  const { cluster: _unsaid, ...marks } = serviceMarks(scheme, key)
  const left = (await cloud.reservations(marks, signal)).filter((one) => isUnmarked(scheme, one.marks))
  const [found] = left
    .filter(({ state }) => state !== 'denied')
    .toSorted((a, b) => (a.createdAt ?? '').localeCompare(b.createdAt ?? ''))
  if (found) await markAsOurs(deps, found, signal)
  return found
}

/** Writes on a reservation which cluster's it is, where nobody has: other clusters leave it alone from then on. */
export async function markAsOurs(deps: Heir, { id, marks }: Reservation, signal: AbortSignal): Promise<void> {
  if (isUnmarked(deps.scheme, marks)) await deps.cloud.mark(id, clusterMarks(deps.scheme), signal)
}
