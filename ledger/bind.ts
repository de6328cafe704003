import type { AskParts } from './ask.ts'
import type { ElasticIP, ReclaimPolicy } from './elastic-ip.ts'
import { condition } from './records.ts'

/** Writes down which live Service holds an address: first its uid, then the phase. */
export async function bind(parts: AskParts, record: ElasticIP, uid: string): Promise<void> {
  const { claimRef } = record.spec
  if (!claimRef) throw new Error(`ElasticIP ${record.metadata.name} is for no Service`)
  const claimed =
    claimRef.uid === uid
      ? record
      : await parts.records.writeSpec(record, { ...record.spec, claimRef: { ...claimRef, uid } })
  const said = {
    status: 'True',
    reason: 'OnService',
    message: `Service ${claimRef.namespace}/${claimRef.name}`,
  } as const
  await parts.records.writeStatus(claimed, {
    phase: 'Bound',
    message: undefined,
    conditions: [condition('Assigned', { ...said, now: parts.now() })],
  })
}

/** Writes down what becomes of an address when its Service goes, as the Service says now. */
export async function setReclaim(parts: AskParts, record: ElasticIP, reclaimPolicy: ReclaimPolicy): Promise<void> {
  await parts.records.writeSpec(record, { ...record.spec, reclaimPolicy })
}

/** Writes down that a live Service has an address that a person lent. */
export async function bindLot(parts: AskParts, lot: ElasticIP): Promise<void> {
  const { namespace, name } = lot.spec.claimRef ?? { namespace: '', name: '' }
  const said = {
    status: 'True',
    reason: 'OnService',
    message: `Service ${namespace}/${name}`,
    now: parts.now(),
  } as const
  await parts.records.writeStatus(lot, {
    phase: 'Bound',
    message: undefined,
    conditions: [condition('Assigned', said)],
  })
}
