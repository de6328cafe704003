import { isAlreadyExists, resultUnless } from '../../kube/errors.ts'
import { type ElasticIP, isUnwritten, newElasticIP } from '../record/elastic-ip.ts'
import { warmLabel, recordFinalizer } from '../record/names.ts'
import type { ClaimDeps } from './claim.ts'
import { type ClaimResult, busy } from './claim-spec.ts'
import { obtainAddress } from './obtain-address.ts'
import { mustWait } from './stored-record.ts'

/**
 * Reserves the address of a warm record; returns `busy` while an earlier request for it may be in flight. Takes no
 * signal: a bought address must reach the record.
 */
export async function reserveWarm(deps: ClaimDeps, source: ElasticIP): Promise<ClaimResult> {
  if (mustWait(deps, source)) return busy
  const reason = await deps.haltReason(new AbortController().signal)
  if (reason !== undefined) return { kind: 'pending', reason }
  const timeLimit = deps.timeLimit()
  const requestInFlight = { sender: deps.identity, sentAt: deps.now().toISOString() }
  const record = await deps.records.writeStatus(source, { phase: 'Requested', requestInFlight })
  return obtainAddress(deps, { record, isFresh: isFresh(source, deps.now()) }, timeLimit)
}

/**
 * A new record gets its status before the first request. An old one without a status must have lost it. A clock that is
 * behind the API server's would make it young, so a record of the future counts as old.
 */
function isFresh(record: ElasticIP, now: Date): boolean {
  const ageMs = now.getTime() - Date.parse(record.metadata.creationTimestamp ?? '')
  return isUnwritten(record) && Math.abs(ageMs) < 60_000
}

/** Creates one more record of the warm pool; returns the reason if that would exceed a limit. */
export async function addWarm(
  deps: Pick<ClaimDeps, 'records' | 'overLimit'>,
  { name, location }: { name: string; location: string },
  signal: AbortSignal,
): Promise<string | undefined> {
  const metadata = { name, finalizers: [recordFinalizer], labels: { [warmLabel]: 'true' } }
  const source = newElasticIP(metadata, { location, reclaimPolicy: 'Delete' })
  // Checked before the create, so that a record that cannot stay is not created again and again. The reserve checks again.
  const reason = await deps.overLimit(source, signal)
  if (reason !== undefined) return reason
  await resultUnless(isAlreadyExists, deps.records.create(source, { signal }))
  return undefined
}
