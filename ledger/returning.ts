import { createHash } from 'node:crypto'
import type { Reservation } from '../clouds/cloud.ts'
import { isAlreadyExists } from '../kube/errors.ts'
import type { AskParts } from './ask.ts'
import { type ElasticIP, recordFinalizer, reservationOf } from './elastic-ip.ts'
import { giveBack } from './give-back.ts'
import type { StatusChange } from './records.ts'

/*
 * What goes back and is no Service's has a record of its own, named after its reservation. Whoever takes a reservation
 * writes the record of its Service, then looks for this one; whoever gives one back that had no record writes this one,
 * then looks for records of Services: so at least one of the two sees the other, and what is given back is nobody's,
 * however long the cloud still lists it.
 */

/** Gives a reservation back that nobody wants, unless somebody has found a use for it by now. */
export async function releaseOrphan(
  parts: AskParts,
  { reservation, isOrphan }: { reservation: Reservation; isOrphan: (records: ElasticIP[]) => boolean },
  signal: AbortSignal,
): Promise<void> {
  const { id, address } = reservation
  const record = await create(parts, { id }, signal)
  if (!record) return
  const others = (await parts.records.list({ signal })).filter(({ metadata }) => metadata.name !== returningName(id))
  if (!isOrphan(others)) return parts.records.remove(record)
  parts.log.warn({ reservation: id, address }, 'nobody wants this address, it goes back')
  const status = returned({ id, address, at: parts.now().toISOString(), message: 'no Service wants it' })
  await giveBack(parts, await parts.records.writeStatus(record, status), signal)
}

/**
 * Lets the record of a Service go whose reservation the cloud takes its time to delete: the Service need not wait for
 * that, and one that comes under its name begins anew.
 */
export async function setAside(parts: AskParts, record: ElasticIP, signal: AbortSignal): Promise<void> {
  const id = reservationOf(record)
  const { address, returnedAt } = record.status ?? {}
  if (id === undefined || returnedAt === undefined) return
  const { location } = record.spec
  const aside =
    (await create(parts, { id, location }, signal)) ?? (await parts.records.get(returningName(id), { signal }))
  const status = returned({ id, address, at: returnedAt, message: 'the cloud is deleting it' })
  if (aside && !aside.status?.returnedAt) await parts.records.writeStatus(aside, status)
  await parts.records.remove(record)
  const { name } = record.metadata
  parts.log.info({ record: name, address, reservation: id }, 'address released, the cloud is still deleting it')
}

/** Goes on with what was begun; `isListed` where the cloud still has the reservation in its list. */
export async function resumeReturn(
  parts: AskParts,
  { record, isListed }: { record: ElasticIP; isListed: boolean },
  signal: AbortSignal,
): Promise<void> {
  const id = reservationOf(record) ?? ''
  // Without the word that it was returned the decision is an old one: the sweep takes it anew.
  const isOver = !record.status?.returnedAt || (!isListed && !(await parts.cloud.reservation(id, signal)))
  await (isOver ? parts.records.remove(record) : giveBack(parts, record, signal))
}

/** Whether a reservation is on its way back without the record of a Service. */
export async function isReturning(parts: AskParts, id: string, signal: AbortSignal): Promise<boolean> {
  return (await parts.records.get(returningName(id), { signal })) !== undefined
}

/** Whether a record is only there for a reservation on its way back. */
export function isReturningRecord(record: ElasticIP): boolean {
  const { name } = record.metadata
  // Asked of every record again and again: a hash only where it may be.
  return name.startsWith(prefix) && name === returningName(reservationOf(record) ?? '')
}

const prefix = 'returning-'

/** No name of a Service's record, which has a dot; hashed, since an id may hold what a name may not. */
function returningName(id: string): string {
  return `${prefix}${createHash('sha256').update(id).digest('hex').slice(0, 16)}`
}

function returned(of: { id: string; address: string | undefined; at: string; message: string }): StatusChange {
  const { id: reservationID, address, at: returnedAt, message } = of
  return { phase: 'Releasing', reservationID, address, returnedAt, message }
}

async function create(
  parts: AskParts,
  { id, location }: { id: string; location?: string | undefined },
  signal: AbortSignal,
): Promise<ElasticIP | undefined> {
  const record: ElasticIP = {
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: { name: returningName(id), finalizers: [recordFinalizer] },
    spec: { reclaimPolicy: 'Delete', reservationID: id, ...(location === undefined ? {} : { location }) },
  }
  try {
    return await parts.records.create(record, { signal })
  } catch (error) {
    if (isAlreadyExists(error)) return undefined
    throw error
  }
}
