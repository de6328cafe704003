import { CloudError, type Reservation } from '../clouds/cloud.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../kube/errors.ts'
import type { Key, Service } from '../kube/objects.ts'
import type { AdoptionMark } from './adoption.ts'
import type { AskParts } from './ask.ts'
import type { Asking } from './asking.ts'
import { type ElasticIP, reservationOf } from './elastic-ip.ts'
import { missingFrom, writeOff } from './lost.ts'
import { makeOurs } from './inherit.ts'
import { commonMarks, mayBeOurs } from './marks.ts'
import { isReturning, isReturningRecord, releaseOrphan, resumeReturn } from './returning.ts'
import { type SweepPlan, planSweep } from './sweep-plan.ts'
import { type StatusChange, newRecord } from './records.ts'
import { isStock } from './stock.ts'
import type { Want } from './want.ts'

export type SweepParts = AskParts & {
  asking: Asking
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
export function sweep(parts: SweepParts): Sweep {
  let suspects: ReadonlySet<string> = new Set()
  let missing: ReadonlySet<string> = new Set()
  return async (signal) => {
    const failures: unknown[] = []
    const returning = parts.listRecords().filter(isReturningRecord)
    // Records and Services are read after the list: a reservation in it that was made by a record has that record by now.
    const listed = await parts.cloud.reservations(commonMarks(parts.scheme), signal)
    const decided = await resumeReturns(parts, { returning, listed, failures }, signal)
    const reservations = listed.filter(({ id, marks }) => mayBeOurs(parts.scheme, marks) && !decided.has(id))
    const before = suspects
    const compare = (records: ElasticIP[]) => {
      const { graceMs, scheme } = parts
      const services = parts.listServices()
      return planSweep({ reservations, records, services, scheme, suspects: before, now: parts.now(), graceMs, share })
    }
    const plan = compare(parts.listRecords())
    suspects = plan.suspects
    let complete = plan.complete
    for (const found of plan.adopt) complete = (await adopt(parts, found, signal)) && complete
    for (const reservation of plan.release) {
      signal.throwIfAborted()
      if (parts.mode === 'report') {
        parts.log.warn({ reservation: reservation.id, address: reservation.address }, 'nobody wants this address')
        continue
      }
      // All this takes its time: somebody may have found a use for it.
      const isOrphan = (records: ElasticIP[]) => compare(records).suspects.has(reservation.id)
      await byItself(failures, () => releaseOrphan(parts, { reservation, isOrphan }, signal))
    }
    for (const record of plan.stale) await forgetStale(parts, record)
    missing = await writeOffMissing(parts, { reservations, missing }, signal)
    if (complete) await parts.mark.set(signal)
    if (failures.length > 0) throw failures[0]
  }
}

/** Goes on with what was begun to be given back; answers the ids, which a list that was read before may still have. */
async function resumeReturns(
  parts: SweepParts,
  { returning, listed, failures }: { returning: ElasticIP[]; listed: Reservation[]; failures: unknown[] },
  signal: AbortSignal,
): Promise<Set<string>> {
  const ids = new Set(listed.map(({ id }) => id))
  const decided = new Set<string>()
  for (const record of returning) {
    const id = reservationOf(record) ?? ''
    if (record.status?.returnedAt) decided.add(id)
    await byItself(failures, () => resumeReturn(parts, { record, isListed: ids.has(id) }, signal))
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
  parts: SweepParts,
  { reservations, missing }: { reservations: Reservation[]; missing: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<Set<string>> {
  const all = parts.listRecords()
  const records = missingFrom(reservations, all)
  const twice = records.filter((record) => missing.has(reservationOf(record) ?? ''))
  const most = Math.max(1, Math.floor(all.length * share))
  for (const record of twice.slice(0, most)) await writeOff(parts, record, signal)
  return new Set(records.flatMap((record) => reservationOf(record) ?? []))
}

/** Writes a reservation into the book; false when somebody else is at its record, and the next sweep must look again. */
async function adopt(parts: SweepParts, found: SweepPlan['adopt'][number], signal: AbortSignal): Promise<boolean> {
  const { key, reservation, record } = found
  if (record && parts.asking.underWay(record)) return false
  try {
    const current = record ?? (await parts.records.create(recordOf(parts, key, reservation), { signal }))
    // With the record in our hands nobody gives it back any more; whoever did before, did after our list was read.
    const isThere = (await parts.cloud.reservation(reservation.id, signal)) !== undefined
    const isAnothers = parts.listRecords().some((other) => isProvisioned(other, reservation))
    if (!isThere || isAnothers || (await isReturning(parts, reservation.id, signal)))
      return await leave(parts, found, current)
    await makeOurs(parts, reservation, signal)
    await parts.records.writeStatus(current, answerOf(current, reservation))
  } catch (error) {
    if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return false
    throw error
  }
  parts.log.info({ service: key, address: reservation.address, reservation: reservation.id }, 'reservation adopted')
  return true
}

/** Whether a person has taken the reservation for theirs while we were at it. */
function isProvisioned(record: ElasticIP, { id }: Reservation): boolean {
  return isStock(record) && record.status?.reservationID === id
}

/** Its reservation is then one without a record, and comes to the Service that the cloud names, or goes back. */
async function forgetStale(parts: SweepParts, record: ElasticIP): Promise<void> {
  const { address } = record.status ?? {}
  parts.log.warn({ record: record.metadata.name, address }, 'the cloud says that a Service has this address already')
  await parts.records.remove(record)
}

async function leave(parts: SweepParts, { record }: SweepPlan['adopt'][number], current: ElasticIP): Promise<boolean> {
  if (!record) await parts.records.remove(current)
  return false
}

function recordOf(parts: SweepParts, key: Key, { id, location }: Reservation): ElasticIP {
  return newRecord(
    key,
    { reclaimPolicy: 'Delete', reservationID: id, ...(location ? { location } : {}) },
    parts.identity,
  )
}

function answerOf(record: ElasticIP, { id, address, state }: Reservation): StatusChange {
  const there = isStock(record) ? 'Available' : 'Reserved'
  const granted = state === 'reserved' && address !== undefined
  return {
    phase: granted ? there : 'Requested',
    reservationID: id,
    address: granted ? address : undefined,
    asking: undefined,
  }
}
