import { createHash } from 'node:crypto'
import type { Reservation } from '../clouds/cloud.ts'
import { isAlreadyExists } from '../kube/errors.ts'
import type { AskParts } from './ask.ts'
import { type ElasticIP, recordFinalizer, reservationOf } from './elastic-ip.ts'
import { giveBack } from './give-back.ts'

/**
 * A reservation that nobody wants goes back by way of a record of its own. Whoever takes a reservation writes the record
 * of its Service, then looks for this one; whoever gives it back writes this one, then looks for records of Services: so
 * at least one of the two sees the other, and what is given back is nobody's, however long the cloud still lists it.
 */
export async function releaseOrphan(
  parts: AskParts,
  { reservation, isOrphan }: { reservation: Reservation; isOrphan: (records: ElasticIP[]) => boolean },
  signal: AbortSignal,
): Promise<void> {
  const { id, address } = reservation
  const record = await create(parts, id, signal)
  if (!record) return
  const others = (await parts.records.list({ signal })).filter(({ metadata }) => metadata.name !== orphanName(id))
  if (!isOrphan(others)) return parts.records.remove(record)
  const returnedAt = parts.now().toISOString()
  const status = { phase: 'Releasing', reservationID: id, address, returnedAt, message: 'no Service wants it' } as const
  parts.log.warn({ reservation: id, address }, 'nobody wants this address, it goes back')
  await giveBack(parts, await parts.records.writeStatus(record, status), signal)
}

/** Goes on with what an earlier sweep began. */
export async function resumeOrphan(parts: AskParts, record: ElasticIP, signal: AbortSignal): Promise<void> {
  // Without the word that it was returned the decision is an old one: the next sweep takes it anew.
  if (record.status?.returnedAt) await giveBack(parts, record, signal)
  else await parts.records.remove(record)
}

/** Whether a reservation is on its way back without ever having had the record of a Service. */
export async function isReturning(parts: AskParts, id: string, signal: AbortSignal): Promise<boolean> {
  return (await parts.records.get(orphanName(id), { signal })) !== undefined
}

/** Whether a record is for giving back what nobody wants. */
export function isOrphanRecord(record: ElasticIP): boolean {
  return record.metadata.name === orphanName(reservationOf(record) ?? '')
}

/** No name of a Service's record, which has a dot; hashed, since an id may hold what a name may not. */
function orphanName(id: string): string {
  return `orphan-${createHash('sha256').update(id).digest('hex').slice(0, 16)}`
}

async function create(parts: AskParts, id: string, signal: AbortSignal): Promise<ElasticIP | undefined> {
  const record: ElasticIP = {
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: { name: orphanName(id), finalizers: [recordFinalizer] },
    spec: { reclaimPolicy: 'Delete', reservationID: id },
  }
  try {
    return await parts.records.create(record, { signal })
  } catch (error) {
    if (isAlreadyExists(error)) return undefined
    throw error
  }
}
