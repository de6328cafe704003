import type { Reservation } from '../../clouds/ports/cloud.ts'
import { hasMarks } from '../../clouds/ports/marks.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/errors.ts'
import { parseIpAddress } from '../../lib/ip-address.ts'
import type { AddressKey, ElasticIP, ReclaimPolicy } from '../record/elastic-ip.ts'
import { isBeingReleased, markAsOurs } from '../record/find-reservation.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { isRetained, lastingMarks } from '../record/marks.ts'
import { type StatusChange, assigned, newRecord, wasHeld } from '../record/records.ts'
import { isSource } from '../record/source.ts'

export type Adoption = {
  /** The address of a Service; for a warm record, its name. */
  key: AddressKey
  reservation: Reservation
  /** The record that waits for the reservation; undefined if the Service has no record. */
  record: ElasticIP | undefined
}

export type AdoptDeps = LedgerDeps & {
  listRecords: () => ElasticIP[]
  /** The default policy, for an address whose Service states none. */
  reclaimPolicy: ReclaimPolicy
}

/** Writes a reservation into the record of its Service; false if the next sweep must look at it again. */
export async function adopt(
  deps: AdoptDeps,
  { key, reservation, record }: Adoption,
  signal: AbortSignal,
): Promise<boolean> {
  if (record && deps.requestsInFlight.isInFlight(record)) return false
  try {
    const current = record
      ? await asMarked(deps, { record, reservation }, signal)
      : await deps.records.create(recordFor(deps, key, reservation), { signal })
    // Once the record exists, no process releases the reservation, but a release may have begun after our list.
    const live = await deps.cloud.reservation(reservation.id, signal)
    // The provider may have reused its id since.
    const exists = live?.address === reservation.address && hasMarks(live?.marks ?? {}, lastingMarks(reservation.marks))
    const isForeign = deps.listRecords().some((other) => isProvisionedFrom(other, reservation))
    const problem =
      reservation.state === 'reserved' ? await deps.grantedProblem(current, reservation, signal) : undefined
    if (problem !== undefined) deps.log.error({ service: key }, `not adopted: ${deps.cloud.name} says that ${problem}`)
    const isUnusable = problem !== undefined || isForeign
    if (!exists || isUnusable || (await isBeingReleased(deps, reservation.id, signal))) {
      if (!record) await deps.records.remove(current, { signal })
      return false
    }
    await markAsOurs(deps, reservation, signal)
    // A backup may have lost the status of a record. Without a record, only a stored Service leads to an adoption.
    const isHeld = !record || isSource(record) || wasHeld(record, reservation)
    const status = { ...statusFrom(current, reservation), ...(isHeld && heldBefore(deps.now())) }
    await deps.records.writeStatus(current, status, { signal })
  } catch (error) {
    // Another process works on the record.
    if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return false
    throw error
  }
  deps.log.info({ service: key, address: reservation.address, reservation: reservation.id }, 'reservation adopted')
  return true
}

/** Whether an operator has provisioned an ElasticIP from the reservation in the meantime. */
function isProvisionedFrom(record: ElasticIP, { id }: Reservation): boolean {
  return isSource(record) && record.status?.reservationID === id
}

/** The waiting record with the retention that the marks state: the record that stated it is lost. */
function asMarked(
  { records }: Pick<AdoptDeps, 'records'>,
  { record, reservation: { marks } }: { record: ElasticIP; reservation: Reservation },
  signal: AbortSignal,
): Promise<ElasticIP> | ElasticIP {
  const { spec } = record
  if (!isRetained(marks) || isSource(record) || spec.reclaimPolicy === 'Retain') return record
  return records.writeSpec(record, { ...spec, reclaimPolicy: 'Retain' }, { signal })
}

function recordFor(deps: AdoptDeps, key: AddressKey, reservation: Reservation): ElasticIP {
  const { id, location, address = '', marks } = reservation
  const place = location ? { location } : {}
  // The record requests this if the provider loses the address.
  const family = parseIpAddress(address)?.family === 'ipv6' ? ({ ipFamily: 'IPv6' } as const) : {}
  const reclaimPolicy = isRetained(marks) ? 'Retain' : deps.reclaimPolicy
  return newRecord(key, { reclaimPolicy, reservationID: id, ...place, ...family }, deps)
}

function statusFrom(record: ElasticIP, { id, address, state }: Reservation): StatusChange {
  const isGranted = state === 'reserved' && address !== undefined
  const grantedPhase = isSource(record) ? 'Available' : 'Reserved'
  return {
    phase: isGranted ? grantedPhase : 'Requested',
    reservationID: id,
    address: isGranted ? address : null,
    requestInFlight: null,
  }
}

/** Records that a Service may have had the address, so that a retained one stays. */
function heldBefore(now: Date): StatusChange {
  return { conditions: [assigned('Unknown', { reason: 'Adopted', message: 'found at the provider', now })] }
}
