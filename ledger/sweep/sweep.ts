import { CloudError, type Reservation } from '../../clouds/cloud.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/errors.ts'
import type { Key, Service } from '../../kube/objects.ts'
import type { AdoptionMark } from './adoption-mark.ts'
import type { LedgerDeps } from '../claim/ask.ts'
import type { RequestsInFlight } from '../record/requests-in-flight.ts'
import { type ElasticIP, reservationIdOf } from '../record/elastic-ip.ts'
import { recordsMissingFrom, writeOff } from '../release/write-off.ts'
import { markAsOurs } from '../claim/adopt-unmarked.ts'
import { commonMarks, mayBeOurs } from '../record/marks.ts'
import { isBeingReleased, isReleaseRecord, releaseOrphan, resumeRelease } from '../release/release-record.ts'
import { type SweepPlan, planSweep } from './sweep-plan.ts'
import { type StatusChange, newRecord } from '../record/records.ts'
import { isSource } from '../record/source.ts'
import type { Want } from '../want/want.ts'

export type SweepDeps = LedgerDeps & {
  requestsInFlight: RequestsInFlight
  mark: AdoptionMark
  listRecords: () => ElasticIP[]
  listServices: () => { service: Service; wanted: Want }[]
  graceMs: number
  /** `report`: orphans are told of, and stay. */
  mode: 'release' | 'report'
}

/** Never more than this part of all reservations in one sweep: a wrong view of the world must not empty a project. */
const share = 0.1

export type Sweep = (signal: AbortSignal) => Promise<void>

/**
 * Looks for reservations with this cluster's marks that the ledger does not know: those of live Services are adopted,
 * predecessors' included; the others go back when two sweeps agree and they are older than the grace period. Throws when
 * the cloud cannot be read: not to see a reservation is not to know that it is gone.
 */
export function sweep(deps: SweepDeps): Sweep {
  let suspects: ReadonlySet<string> = new Set()
  let missing: ReadonlySet<string> = new Set()
  return async (signal) => {
    const failures: unknown[] = []
    const returning = deps.listRecords().filter(isReleaseRecord)
    // Records and Services are read after the list: a reservation in it that was made by a record has that record by now.
    const listed = await deps.cloud.reservations(commonMarks(deps.scheme), signal)
    const decided = await resumeReleases(deps, { returning, listed, failures }, signal)
    const reservations = listed.filter(({ id, marks }) => mayBeOurs(deps.scheme, marks) && !decided.has(id))
    const before = suspects
    const compare = (records: ElasticIP[]) => {
      const { graceMs, scheme } = deps
      const services = deps.listServices()
      return planSweep({ reservations, records, services, scheme, suspects: before, now: deps.now(), graceMs, share })
    }
    const plan = compare(deps.listRecords())
    suspects = plan.suspects
    let complete = plan.complete
    for (const found of plan.adopt) complete = (await adopt(deps, found, signal)) && complete
    for (const reservation of plan.release) {
      signal.throwIfAborted()
      if (deps.mode === 'report') {
        deps.log.warn({ reservation: reservation.id, address: reservation.address }, 'nobody wants this address')
        continue
      }
      // All this takes its time: somebody may have found a use for it.
      const isOrphan = (records: ElasticIP[]) => compare(records).suspects.has(reservation.id)
      await byItself(failures, () => releaseOrphan(deps, { reservation, isOrphan }, signal))
    }
    for (const record of plan.stale) await forgetStale(deps, record)
    missing = await writeOffMissing(deps, { reservations, missing }, signal)
    if (complete) await deps.mark.set(signal)
    if (failures.length > 0) throw failures[0]
  }
}

/** Goes on with what was begun to be given back; answers the ids, which a list that was read before may still have. */
async function resumeReleases(
  deps: SweepDeps,
  { returning, listed, failures }: { returning: ElasticIP[]; listed: Reservation[]; failures: unknown[] },
  signal: AbortSignal,
): Promise<Set<string>> {
  const ids = new Set(listed.map(({ id }) => id))
  const decided = new Set<string>()
  for (const record of returning) {
    const id = reservationIdOf(record) ?? ''
    if (record.status?.deletionRequestedAt) decided.add(id)
    await byItself(failures, () => resumeRelease(deps, { record, isListed: ids.has(id) }, signal))
  }
  return decided
}

/**
 * Whatever keeps one reservation from going back, as somebody who uses it, must not hold up all the others: it is an
 * error when everything else is done.
 */
async function byItself(failures: unknown[], work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const isItsOwn = error instanceof CloudError && ['conflict', 'invalid'].includes(error.fault)
    if (!isItsOwn && !isConflict(error) && !isNotFound(error)) throw error
    failures.push(error)
  }
}

/** Writes off what this sweep and the last one missed; answers what this one did. */
async function writeOffMissing(
  deps: SweepDeps,
  { reservations, missing }: { reservations: Reservation[]; missing: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<Set<string>> {
  const all = deps.listRecords()
  const records = recordsMissingFrom(reservations, all)
  const twice = records.filter((record) => missing.has(reservationIdOf(record) ?? ''))
  const most = Math.max(1, Math.floor(all.length * share))
  for (const record of twice.slice(0, most)) await writeOff(deps, record, signal)
  return new Set(records.flatMap((record) => reservationIdOf(record) ?? []))
}

/** Writes a reservation into the book; false when somebody else is at its record, and the next sweep must look again. */
async function adopt(deps: SweepDeps, found: SweepPlan['adopt'][number], signal: AbortSignal): Promise<boolean> {
  const { key, reservation, record } = found
  if (record && deps.requestsInFlight.isInFlight(record)) return false
  try {
    const current = record ?? (await deps.records.create(recordOf(deps, key, reservation), { signal }))
    // With the record in our hands nobody gives it back any more; whoever did before, did after our list was read.
    const isThere = (await deps.cloud.reservation(reservation.id, signal)) !== undefined
    const isAnothers = deps.listRecords().some((other) => isProvisioned(other, reservation))
    if (!isThere || isAnothers || (await isBeingReleased(deps, reservation.id, signal)))
      return await leave(deps, found, current)
    await markAsOurs(deps, reservation, signal)
    await deps.records.writeStatus(current, answerOf(current, reservation))
  } catch (error) {
    if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return false
    throw error
  }
  deps.log.info({ service: key, address: reservation.address, reservation: reservation.id }, 'reservation adopted')
  return true
}

/** Whether a person has taken the reservation for theirs while we were at it. */
function isProvisioned(record: ElasticIP, { id }: Reservation): boolean {
  return isSource(record) && record.status?.reservationID === id
}

/** Its reservation is then one without a record, and comes to the Service that the cloud names, or goes back. */
async function forgetStale(deps: SweepDeps, record: ElasticIP): Promise<void> {
  const { address } = record.status ?? {}
  deps.log.warn({ record: record.metadata.name, address }, 'the cloud says that a Service has this address already')
  await deps.records.remove(record)
}

async function leave(deps: SweepDeps, { record }: SweepPlan['adopt'][number], current: ElasticIP): Promise<boolean> {
  if (!record) await deps.records.remove(current)
  return false
}

function recordOf(deps: SweepDeps, key: Key, { id, location }: Reservation): ElasticIP {
  return newRecord(
    key,
    { reclaimPolicy: 'Delete', reservationID: id, ...(location ? { location } : {}) },
    deps.identity,
  )
}

function answerOf(record: ElasticIP, { id, address, state }: Reservation): StatusChange {
  const there = isSource(record) ? 'Available' : 'Reserved'
  const granted = state === 'reserved' && address !== undefined
  return {
    phase: granted ? there : 'Requested',
    reservationID: id,
    address: granted ? address : undefined,
    requestInFlight: undefined,
  }
}
