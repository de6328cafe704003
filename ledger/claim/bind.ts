import type { ElasticIP, ReclaimPolicy } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { protectedAnnotation } from '../record/names.ts'
import { type StatusChange, condition } from '../record/records.ts'

/** Records which stored Service holds an address: first its uid, then the phase. */
export async function bind(
  deps: Pick<LedgerDeps, 'records' | 'now'>,
  { record, uid }: { record: ElasticIP; uid: string },
  signal: AbortSignal,
): Promise<void> {
  const { claimRef } = record.spec
  if (!claimRef) throw new Error(`ElasticIP ${record.metadata.name} is for no Service`)
  const claimed =
    claimRef.uid === uid
      ? record
      : await deps.records.writeSpec(record, { ...record.spec, claimRef: { ...claimRef, uid } }, { signal })
  await deps.records.writeStatus(claimed, bound(deps, claimRef), { signal })
}

/** Records the reclaim policy that the Service requests now. */
export async function setReclaimPolicy(
  deps: Pick<LedgerDeps, 'records'>,
  { record, reclaim }: { record: ElasticIP; reclaim: ReclaimPolicy },
  signal: AbortSignal,
): Promise<void> {
  await deps.records.writeSpec(record, { ...record.spec, reclaimPolicy: reclaim }, { signal })
}

/**
 * Records whether the Service is protected: after an uninstall it may be deleted while no controller sees its
 * annotation.
 */
export async function noteProtection(
  deps: Pick<LedgerDeps, 'records'>,
  { record, isProtected }: { record: ElasticIP; isProtected: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { [protectedAnnotation]: _former, ...others } = record.metadata.annotations ?? {}
  const annotations = isProtected ? { ...others, [protectedAnnotation]: 'true' } : others
  await deps.records.writeSpec({ ...record, metadata: { ...record.metadata, annotations } }, record.spec, { signal })
}

/** Records on a provisioned address that a stored Service holds it. */
export async function bindSource(
  deps: Pick<LedgerDeps, 'records' | 'now'>,
  source: ElasticIP,
  signal: AbortSignal,
): Promise<void> {
  await deps.records.writeStatus(source, bound(deps, source.spec.claimRef ?? { namespace: '', name: '' }), { signal })
}

function bound({ now }: Pick<LedgerDeps, 'now'>, service: { namespace: string; name: string }): StatusChange {
  const message = `Service ${service.namespace}/${service.name}`
  const facts = { status: 'True', reason: 'OnService', message, now: now() } as const
  return { phase: 'Bound', message: null, conditions: [condition('Assigned', facts)] }
}
