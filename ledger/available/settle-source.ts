import type { Key } from '../../kube/objects.ts'
import { AddressInUse } from '../record/address-use.ts'
import { type ElasticIP, addressKeyOf, claimKey, phaseOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { sourceMarks, transferMarks } from '../record/marks.ts'
import { elasticIPAnnotation } from '../record/names.ts'
import { claimRefOf, hasSource, isClaimedBy } from '../record/source.ts'
import { stayInUse } from '../record/records.ts'
import { inUseBy, makeAvailable } from './claim-source.ts'

type Deps = Pick<LedgerDeps, 'records' | 'possibleUsers'>

/**
 * Ends the claim on an address whose record is deleted. Every claim checks for other users, so only a source with the
 * policy `Delete` that a Service used needs care. While others use the address it stays claimed, and this throws
 * AddressInUse. But if one of them requests this ElasticIP by name, the source becomes available, and that Service
 * claims it again.
 *
 * `key` is the Service whose record is deleted, if the caller acts for it.
 */
export async function reclaimSource(
  deps: Deps,
  { source, key }: { source: ElasticIP; key?: Key | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { name } = source.metadata
  const isToBeReleased = phaseOf(source) === 'Bound' && source.spec.reclaimPolicy === 'Delete'
  if (!isToBeReleased) return makeAvailable(deps, source, signal)
  const used = { address: source.status?.address, reservationID: source.status?.reservationID }
  const error = await inUseBy(deps, { used, key, names: [name] }, signal)
  if (!error) {
    await deps.records.writeStatus(source, { phase: 'Releasing', message: 'its Service no longer exists' }, { signal })
  } else if (error.users.some(({ service }) => service?.metadata.annotations?.[elasticIPAnnotation] === name)) {
    await makeAvailable(deps, source, signal)
  } else await stayInUse(deps, { record: source, error }, signal)
}

/**
 * Returns a provisioned address to its ElasticIP and removes the Service's record. Before that, it records on the
 * source whether a Service used the address, which decides whether the reclaim policy `Delete` applies.
 */
export async function returnToSource(
  deps: Deps & Pick<LedgerDeps, 'log'>,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<void> {
  const named = await deps.records.get(record.spec.source?.name ?? '', { signal })
  const source = named && isClaimedBy(named, record) && hasSource(record, named) ? named : undefined
  const wasUsed = source && record.spec.claimRef?.uid !== undefined && phaseOf(source) === 'Available'
  const current = wasUsed ? await deps.records.writeStatus(source, { phase: 'Bound' }, { signal }) : source
  await deps.records.remove(record, { signal })
  deps.log.info({ record: record.metadata.name, address: record.status?.address }, 'address returned to its ElasticIP')
  try {
    if (current) await reclaimSource(deps, { source: current, key: claimKey(record) }, signal)
  } catch (error) {
    // The record is deleted, and the status of the ElasticIP says why it stays: its own controller looks again.
    if (!(error instanceof AddressInUse)) throw error
  }
}

/**
 * Restores on an available address the claim of the record that holds it, after another writer overwrote the claim or
 * began a release.
 */
export async function restoreClaim(
  deps: Pick<LedgerDeps, 'records'>,
  { source, record }: { source: ElasticIP; record: ElasticIP },
  signal: AbortSignal,
): Promise<void> {
  const { claimRef: former, ...spec } = source.spec
  // The API server refuses a claimRef that changes its Service, so the wrong one is removed first.
  const isOther = former !== undefined && claimKey(source) !== claimKey(record)
  const current = isOther ? await deps.records.writeSpec(source, spec, { signal }) : source
  const claimRef = claimRefOf(record, !isOther && former?.setByOperator === true)
  const claimed = await deps.records.writeSpec(current, { ...spec, claimRef }, { signal })
  const isEnding = phaseOf(claimed) === 'Releasing'
  if (isEnding) await deps.records.writeStatus(claimed, { phase: 'Available', message: null }, { signal })
}

/**
 * Transfers a warm address to its Service for good: changes the marks at the provider, then removes the warm record.
 * Until then two records have the reservation, and no other Service can claim the warm one.
 */
export async function transferWarm(
  deps: Pick<LedgerDeps, 'records' | 'cloud' | 'scheme' | 'log'>,
  { source, record }: { source: ElasticIP; record: ElasticIP },
  signal: AbortSignal,
): Promise<void> {
  // The record has the id even if the source's status was emptied.
  const { reservationID = '', address } = record.status ?? {}
  // The provider may have reused the id for another order, so the marks must be the warm record's.
  const warm = { id: reservationID, marks: sourceMarks(deps.scheme, source.metadata.uid ?? '') }
  await deps.cloud.mark(warm, transferMarks(deps.scheme, addressKeyOf(record) ?? ''), signal)
  await deps.records.remove(source, { signal })
  await clearSource(deps, record, signal)
  deps.log.info({ record: record.metadata.name, address, from: source.metadata.name }, 'address transferred')
}

/** Removes the name of its source from a record: the source is deleted, or unrelated to the record. */
export function clearSource(
  deps: Pick<LedgerDeps, 'records'>,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<ElasticIP> {
  const { source: _former, ...spec } = record.spec
  return deps.records.writeSpec(record, spec, { signal })
}
