import type { LedgerDeps } from './ask.ts'
import type { ElasticIP, ReclaimPolicy } from '../record/elastic-ip.ts'
import { condition } from '../record/records.ts'

/** Writes down which live Service holds an address: first its uid, then the phase. */
export async function bind(deps: LedgerDeps, record: ElasticIP, uid: string): Promise<void> {
  const { claimRef } = record.spec
  if (!claimRef) throw new Error(`ElasticIP ${record.metadata.name} is for no Service`)
  const claimed =
    claimRef.uid === uid
      ? record
      : await deps.records.writeSpec(record, { ...record.spec, claimRef: { ...claimRef, uid } })
  const said = {
    status: 'True',
    reason: 'OnService',
    message: `Service ${claimRef.namespace}/${claimRef.name}`,
  } as const
  await deps.records.writeStatus(claimed, {
    phase: 'Bound',
    message: undefined,
    conditions: [condition('Assigned', { ...said, now: deps.now() })],
  })
}

/** Writes down what becomes of an address when its Service goes, as the Service says now. */
export async function setReclaimPolicy(
  deps: LedgerDeps,
  record: ElasticIP,
  reclaimPolicy: ReclaimPolicy,
): Promise<void> {
  await deps.records.writeSpec(record, { ...record.spec, reclaimPolicy })
}

/** Writes down that a live Service has an address that a person lent. */
export async function bindSource(deps: LedgerDeps, source: ElasticIP): Promise<void> {
  const { namespace, name } = source.spec.claimRef ?? { namespace: '', name: '' }
  const said = {
    status: 'True',
    reason: 'OnService',
    message: `Service ${namespace}/${name}`,
    now: deps.now(),
  } as const
  await deps.records.writeStatus(source, {
    phase: 'Bound',
    message: undefined,
    conditions: [condition('Assigned', said)],
  })
}
