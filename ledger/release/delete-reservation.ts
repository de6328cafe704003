import { recordFinalizer, transferAnnotation } from '../record/names.ts'
import { type ElasticIP, newElasticIP, releaseRecordName, reservationIdOf, claimKey } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import type { Reservation } from '../../clouds/ports/cloud.ts'
import { KubeError, isAlreadyExists, resultUnless } from '../../kube/errors.ts'
import { AddressInUse, findUsers, type AddressUser, type PossibleUsers } from '../record/address-use.ts'
import { findCertainly } from '../record/find-reservation.ts'
import {
  clusterMarks,
  lastingMarks,
  marksOf,
  namedCluster,
  ownerMark,
  whoseIs,
  wasUnmarked,
  type WhoseRules,
  foreignReasonOf,
} from '../record/marks.ts'
import type { StatusChange } from '../record/status.ts'
import type { Service } from '../../kube/objects.ts'
import { hasSource, isSource, mayBeOperators } from '../record/source.ts'
import { canPassOn } from './heir.ts'
import { defined } from '../../lib/json.ts'

/** A record that is being released, and the result of a live look at its reservation. */
export type DeletionSeen = {
  record: ElasticIP
  reservationID: string
  /** The reservation at the provider; undefined if it has none. */
  found: Reservation | undefined
  all: PossibleUsers
  /** The Service that gets the record if it may pass to another one. */
  heir?: Service | undefined
}

export type DeletionPlan =
  | { do: 'delete' }
  /** Another Service of its namespace uses the address: the record passes to that one. */
  | { do: 'pass-on'; heir: Service; found: Reservation }
  /** Only the record is deleted. `endsAdoption`: removes our marks from the reservation. */
  | { do: 'keep'; reason: string; endsAdoption?: boolean }
  /** Both stay until the address is unused. */
  | { do: 'wait'; error: AddressInUse }

/**
 * The fate of the reservation of a record that is being released. Pure. The first row that applies decides.
 *
 * | the reservation                                       | and                                     | plan                    |
 * | ----------------------------------------------------- | --------------------------------------- | ----------------------- |
 * | is gone                                               | an earlier deletion lost its answer     | `delete`, which ends it |
 * | is the record's, or by its marks already the heir's   | there is an heir, as heir.ts says       | `pass-on`               |
 * | is not the record's, as marks.ts says                 | the sweep finds what has our marks      | `keep`                  |
 * | is an operator's: provisioned to stay, or transferred |                                         | `keep`                  |
 * | is used                                               | only records hold it, of the same one,  | `keep`: theirs          |
 * |                                                       | and their Services show it              |                         |
 * | is used                                               |                                         | `wait`                  |
 * | is named by a provisioned ElasticIP that waits for it |                                         | `keep`                  |
 * | had no marks when it was adopted                      | nobody allowed to delete such           | `keep`, without ours    |
 * | any other                                             |                                         | `delete`                |
 */
export function planDeletion(seen: DeletionSeen, deps: WhoseRules): DeletionPlan {
  const { record, reservationID, found, all } = seen
  // A Service that still shows the address has it from another reservation.
  if (!found && record.status?.deletionRequestedAt !== undefined) return { do: 'delete' }
  const { heir } = seen
  if (heir && found && canPassOn(deps, { record, heir, found })) return { do: 'pass-on', heir, found }
  const foreign = foreignReason(deps, seen)
  if (foreign !== undefined) return { do: 'keep', reason: foreign }
  const used = { address: record.status?.address ?? found?.address, reservationID }
  const users = findUsers(used, all, {
    ...(isSource(record) ? {} : { service: claimKey(record), isRelease: true }),
    records: [record.metadata.name],
  })
  if (users.length > 0) {
    // Two records may name one reservation, from a backup for instance. The one that holds it releases it some day.
    const theirs = users.filter((user) => isIndependentRecord(user, seen))
    const owners = new Set(theirs.map(({ record: other }) => other && claimKey(other)))
    const [holder] = theirs
    return holder && users.every((user) => theirs.includes(user) || owners.has(user.key))
      ? { do: 'keep', reason: `${holder.key} holds it` }
      : { do: 'wait', error: new AddressInUse(used, users) }
  }
  const provisioned = provisionedFor(seen)
  if (provisioned) return { do: 'keep', reason: `ElasticIP ${provisioned.metadata.name} names it` }
  if (!found || isSource(record) || deps.sweepsUntagged || !wasUnmarked(deps.scheme, found.marks))
    return { do: 'delete' }
  // It may be another cluster's, so it names no cluster again.
  return { do: 'keep', reason: adoptedReason, endsAdoption: namedCluster(deps.scheme, found.marks) === 'ours' }
}

const adoptedReason =
  "it named no cluster when it was adopted, and may be another cluster's; --sweep-untagged deletes such"

function foreignReason(rules: WhoseRules, { record, found }: DeletionSeen): string | undefined {
  const text = found && foreignReasonOf(rules, record, found)
  if (text !== undefined || !mayBeOperators(record)) return text
  const lacksOurs = namedCluster(rules.scheme, found?.marks ?? {}) !== 'ours'
  // Our marks only make the other cluster ignore it; it still belongs to the operator.
  const isTransferred = record.metadata.annotations?.[transferAnnotation] !== undefined
  return lacksOurs || isTransferred ? 'an operator provisioned it' : undefined
}

function isIndependentRecord({ record: other }: AddressUser, { record, reservationID }: DeletionSeen): boolean {
  return other !== undefined && other.status?.reservationID === reservationID && !hasSource(other, record)
}

/** The provisioned ElasticIP that an operator wrote for the reservation, and that waits for the deletion of this record. */
function provisionedFor({ record, reservationID, all }: DeletionSeen): ElasticIP | undefined {
  return all.records.find(
    (other) =>
      other.metadata.name !== record.metadata.name &&
      other.spec.reservationID === reservationID &&
      isSource(other) &&
      other.metadata.deletionTimestamp === undefined,
  )
}

/**
 * The progress of a deletion. `deleted`: the provider no longer has the reservation, and the record is removed.
 * `deleting`: it accepted the request but still lists the reservation; the record stays.
 */
export type DeletionResult = 'deleted' | 'deleting'

/**
 * Adds our marks to an unmarked reservation before the record says that it is deleted. From then on an unmarked one is
 * another's: the provider may reuse the id before we learn that ours is deleted.
 */
export async function markForDeletion(
  { cloud, scheme }: Pick<LedgerDeps, 'cloud' | 'scheme'>,
  { id, marks }: Reservation,
  signal: AbortSignal,
): Promise<void> {
  if (namedCluster(scheme, marks) !== 'ours')
    await cloud.mark({ id, marks: lastingMarks(marks) }, clusterMarks(scheme), signal)
}

/**
 * Deletes a record's reservation at the provider, and removes the record once the provider no longer has it. The caller
 * has checked that the address is unused and that the reservation is the record's.
 */
export async function deleteReservation(
  deps: LedgerDeps,
  { record, found }: { record: ElasticIP; found: Reservation | undefined },
  signal: AbortSignal,
): Promise<DeletionResult> {
  const reservation = reservationIdOf(record)
  if (reservation !== undefined) {
    // If it was not found, its id may belong to our next order by now, with our cluster's marks.
    if (found) {
      const marks = { ...lastingMarks(found.marks), ...clusterMarks(deps.scheme) }
      await deps.cloud.release({ id: reservation, marks }, signal)
    }
    // If a 404 was wrong, the sweep finds a reservation of ours by its marks. One that a person named may have none.
    const isGone =
      record.spec.reservationID === undefined
        ? !(await deps.cloud.reservation(reservation, signal))
        : !(await findCertainly(deps, reservation, signal))
    if (!isGone) return 'deleting'
  }
  await deps.records.remove(record, { signal })
  deps.log.info({ record: record.metadata.name, address: record.status?.address, reservation }, 'address released')
  return 'deleted'
}

const inUse = 'the address of a reservation that is to be deleted is in use; the reservation is kept'

/*
 * A reservation that is being deleted and that no Service holds has a release record, named after the reservation. A
 * process that adopts a reservation writes the Service's record, then looks for a release record. A process that deletes a
 * reservation without a record writes the release record, then looks for Services' records. So at least one of the two sees
 * the other. No Service gets a reservation that is being deleted, however long the provider lists it.
 */

/** Deletes an orphan, unless a record or a Service needs it by now. */
export async function releaseOrphan(
  deps: LedgerDeps,
  { reservation, isOrphan }: { reservation: Reservation; isOrphan: (records: ElasticIP[]) => boolean },
  signal: AbortSignal,
): Promise<void> {
  const { id, address } = reservation
  const record = await create(deps, { id }, signal)
  if (!record) return
  const others = (await deps.records.list({ signal })).filter(({ metadata }) => metadata.name !== releaseRecordName(id))
  if (!isOrphan(others)) return deps.records.remove(record, { signal })
  const users = findUsers({ address, reservationID: id }, await deps.possibleUsers(signal), {
    records: [record.metadata.name],
  })
  if (users.length > 0) {
    deps.log.warn({ reservation: id, reason: new AddressInUse({ address, reservationID: id }, users).message }, inUse)
    return deps.records.remove(record, { signal })
  }
  deps.log.warn({ reservation: id, address }, 'orphaned address; it is released')
  await markForDeletion(deps, reservation, signal)
  const status = releasing({ id, address, at: deps.now().toISOString(), message: 'no Service wants it' })
  const requested = await deps.records.writeStatus(record, status, { signal })
  await deleteReservation(deps, { record: requested, found: reservation }, signal)
}

const conflict = { status: 409, reason: 'Conflict' }

/**
 * Replaces a Service's record by a release record while the provider is slow to delete the reservation. The Service
 * need not wait, and a new Service of the same name gets a new record.
 */
export async function moveToReleaseRecord(deps: LedgerDeps, record: ElasticIP, signal: AbortSignal): Promise<void> {
  const id = reservationIdOf(record)
  const { address, deletionRequestedAt } = record.status ?? {}
  if (id === undefined || deletionRequestedAt === undefined) return
  const { location } = record.spec
  const moved =
    (await create(deps, { id, location }, signal)) ?? (await deps.records.get(releaseRecordName(id), { signal }))
  const status = releasing({ id, address, at: deletionRequestedAt, message: 'the provider is deleting it' })
  // The sweep that made it has removed it, for this record has the reservation.
  if (!moved) throw new KubeError(`ElasticIP ${releaseRecordName(id)} was removed meanwhile`, conflict)
  if (!moved.status?.deletionRequestedAt) await deps.records.writeStatus(moved, status, { signal })
  await deps.records.remove(record, { signal })
  const facts = { record: record.metadata.name, address, reservation: id }
  deps.log.info(facts, 'address released; the provider is still deleting it')
}

/** Completes a deletion that was begun; `listed` is the reservation if the provider still lists it. */
export async function resumeRelease(
  deps: LedgerDeps,
  { record, listed }: { record: ElasticIP; listed: Reservation | undefined },
  signal: AbortSignal,
): Promise<void> {
  const id = reservationIdOf(record) ?? ''
  // Without `deletionRequestedAt`, no deletion was sent, and the decision is stale: the sweep decides again.
  if (!record.status?.deletionRequestedAt) return deps.records.remove(record, { signal })
  const found = listed ?? (await findCertainly(deps, id, signal))
  // The provider may reuse the id of a deleted reservation for an order of any owner.
  if (!found || whoseIs(deps, record, found).whose !== 'ours') return deps.records.remove(record, { signal })
  const all = await deps.possibleUsers(signal)
  const others = all.records.filter(({ metadata }) => metadata.name !== record.metadata.name)
  // The order may be ours, and its answer may not have reached its record yet.
  if (others.some((other) => isOrdering(deps, other, listed))) return undefined
  const next = others.find(({ status }) => status?.reservationID === id && status.deletionRequestedAt === undefined)
  if (next) {
    const facts = { reservation: id, record: next.metadata.name }
    deps.log.info(facts, 'the reservation belongs to another record, so its deletion has ended')
    return deps.records.remove(record, { signal })
  }
  const used = { address: record.status?.address, reservationID: id }
  const users = findUsers(used, all, { records: [record.metadata.name] })
  // The call may have been lost. It is not sent again while the address is shown.
  if (users.length > 0) deps.log.warn({ reservation: id, reason: new AddressInUse(used, users).message }, inUse)
  else await deleteReservation(deps, { record, found }, signal)
}

/** Whether a record has an order in flight, with the marks of this reservation. */
function isOrdering(
  { scheme, requestsInFlight }: Pick<LedgerDeps, 'scheme' | 'requestsInFlight'>,
  record: ElasticIP,
  listed: Reservation | undefined,
): boolean {
  const isWaiting = reservationIdOf(record) === undefined && requestsInFlight.isInFlight(record)
  const owner = isWaiting && listed ? ownerMark(listed.marks) : undefined
  return owner !== undefined && ownerMark(marksOf(scheme, record)) === owner
}

function releasing(of: { id: string; address: string | undefined; at: string; message: string }): StatusChange {
  const { id: reservationID, address, at: deletionRequestedAt, message } = of
  return { phase: 'Releasing', ...defined({ reservationID, address }), deletionRequestedAt, message }
}

/** Creates a release record; undefined if there already is one. */
function create(
  deps: LedgerDeps,
  { id, location }: { id: string; location?: string | undefined },
  signal: AbortSignal,
): Promise<ElasticIP | undefined> {
  const metadata = { name: releaseRecordName(id), finalizers: [recordFinalizer] }
  const record = newElasticIP(metadata, { reclaimPolicy: 'Delete', reservationID: id, ...defined({ location }) })
  return resultUnless(isAlreadyExists, deps.records.create(record, { signal }))
}
