import { hashForName } from '../../lib/names.ts'
import type { Reservation } from '../../clouds/cloud.ts'
import { isAlreadyExists } from '../../kube/errors.ts'
import type { LedgerDeps } from '../claim/ask.ts'
import { type ElasticIP, recordFinalizer, reservationIdOf } from '../record/elastic-ip.ts'
import { deleteReservation } from './delete-reservation.ts'
import type { StatusChange } from '../record/records.ts'

/*
 * What goes back and is no Service's has a record of its own, named after its reservation. Whoever takes a reservation
 * writes the record of its Service, then looks for this one; whoever gives one back that had no record writes this one,
 * then looks for records of Services: so at least one of the two sees the other, and what is given back is nobody's,
 * however long the cloud still lists it.
 */

/** Gives a reservation back that nobody wants, unless somebody has found a use for it by now. */
export async function releaseOrphan(
  deps: LedgerDeps,
  { reservation, isOrphan }: { reservation: Reservation; isOrphan: (records: ElasticIP[]) => boolean },
  signal: AbortSignal,
): Promise<void> {
  const { id, address } = reservation
  const record = await create(deps, { id }, signal)
  if (!record) return
  const others = (await deps.records.list({ signal })).filter(({ metadata }) => metadata.name !== releaseRecordName(id))
  if (!isOrphan(others)) return deps.records.remove(record)
  deps.log.warn({ reservation: id, address }, 'nobody wants this address, it goes back')
  const status = releasing({ id, address, at: deps.now().toISOString(), message: 'no Service wants it' })
  await deleteReservation(deps, await deps.records.writeStatus(record, status), signal)
}

/**
 * Lets the record of a Service go whose reservation the cloud takes its time to delete: the Service need not wait for
 * that, and one that comes under its name begins anew.
 */
export async function moveToReleaseRecord(deps: LedgerDeps, record: ElasticIP, signal: AbortSignal): Promise<void> {
  const id = reservationIdOf(record)
  const { address, deletionRequestedAt } = record.status ?? {}
  if (id === undefined || deletionRequestedAt === undefined) return
  const { location } = record.spec
  const aside =
    (await create(deps, { id, location }, signal)) ?? (await deps.records.get(releaseRecordName(id), { signal }))
  const status = releasing({ id, address, at: deletionRequestedAt, message: 'the cloud is deleting it' })
  if (aside && !aside.status?.deletionRequestedAt) await deps.records.writeStatus(aside, status)
  await deps.records.remove(record)
  const { name } = record.metadata
  deps.log.info({ record: name, address, reservation: id }, 'address released, the cloud is still deleting it')
}

/** Goes on with what was begun; `isListed` where the cloud still has the reservation in its list. */
export async function resumeRelease(
  deps: LedgerDeps,
  { record, isListed }: { record: ElasticIP; isListed: boolean },
  signal: AbortSignal,
): Promise<void> {
  const id = reservationIdOf(record) ?? ''
  // Without the word that it was returned the decision is an old one: the sweep takes it anew.
  const isOver = !record.status?.deletionRequestedAt || (!isListed && !(await deps.cloud.reservation(id, signal)))
  await (isOver ? deps.records.remove(record) : deleteReservation(deps, record, signal))
}

/** Whether a reservation is on its way back without the record of a Service. */
export async function isBeingReleased(deps: LedgerDeps, id: string, signal: AbortSignal): Promise<boolean> {
  return (await deps.records.get(releaseRecordName(id), { signal })) !== undefined
}

/** Whether a record is only there for a reservation on its way back. */
export function isReleaseRecord(record: ElasticIP): boolean {
  const { name } = record.metadata
  // Asked of every record again and again: a hash only where it may be.
  return name.startsWith(prefix) && name === releaseRecordName(reservationIdOf(record) ?? '')
}

const prefix = 'releasing-'

/** No name of a Service's record, which has a dot; hashed, since an id may hold what a name may not. */
function releaseRecordName(id: string): string {
  return `${prefix}${hashForName(id, 16)}`
}

function releasing(of: { id: string; address: string | undefined; at: string; message: string }): StatusChange {
  const { id: reservationID, address, at: deletionRequestedAt, message } = of
  return { phase: 'Releasing', reservationID, address, deletionRequestedAt, message }
}

async function create(
  deps: LedgerDeps,
  { id, location }: { id: string; location?: string | undefined },
  signal: AbortSignal,
): Promise<ElasticIP | undefined> {
  const record: ElasticIP = {
    apiVersion: 'eip-admission.dev/v1alpha1',
    kind: 'ElasticIP',
    metadata: { name: releaseRecordName(id), finalizers: [recordFinalizer] },
    spec: { reclaimPolicy: 'Delete', reservationID: id, ...(location === undefined ? {} : { location }) },
  }
  try {
    return await deps.records.create(record, { signal })
  } catch (error) {
    if (isAlreadyExists(error)) return undefined
    throw error
  }
}
