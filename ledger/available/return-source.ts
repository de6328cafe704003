import { type ElasticIP, phaseOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { hasSource, isClaimedBy } from '../record/source.ts'
import { makeAvailable } from './claim-source.ts'

type Deps = Pick<LedgerDeps, 'records'>

/** Ends the claim on an address whose record is gone: available again, or released where its reclaim policy says so. */
export async function reclaimSource(deps: Deps, source: ElasticIP, signal: AbortSignal): Promise<void> {
  const isToBeReleased = phaseOf(source) === 'Bound' && source.spec.reclaimPolicy === 'Delete'
  if (isToBeReleased) {
    await deps.records.writeStatus(source, { phase: 'Releasing', message: 'its Service is gone' }, { signal })
  } else await makeAvailable(deps, source, signal)
}

/**
 * Returns a provisioned address to its ElasticIP and removes the Service's record. Before that it writes on the source
 * whether a Service used the address: this decides whether the reclaim policy `Delete` applies afterwards.
 */
export async function returnToSource(
  deps: Pick<LedgerDeps, 'records' | 'log'>,
  record: ElasticIP,
  signal: AbortSignal,
): Promise<void> {
  const named = await deps.records.get(record.spec.source?.name ?? '', { signal })
  const source = named && isClaimedBy(named, record) && hasSource(record, named) ? named : undefined
  const wasUsed = source && record.spec.claimRef?.uid !== undefined && phaseOf(source) === 'Available'
  const current = wasUsed ? await deps.records.writeStatus(source, { phase: 'Bound' }, { signal }) : source
  await deps.records.remove(record, { signal })
  deps.log.info({ record: record.metadata.name, address: record.status?.address }, 'address returned to its ElasticIP')
  if (current) await reclaimSource(deps, current, signal)
}

/** Writes on an available address again which record holds it, where another writer overwrote that. */
export async function restoreClaim(
  deps: Deps,
  { source, record }: { source: ElasticIP; record: ElasticIP },
  signal: AbortSignal,
): Promise<void> {
  const { namespace = '', name = '' } = record.spec.claimRef ?? {}
  const claimRef = {
    namespace,
    name,
    ...(record.metadata.uid === undefined ? {} : { elasticIPUID: record.metadata.uid }),
  }
  await deps.records.writeSpec(source, { ...source.spec, claimRef }, { signal })
}
