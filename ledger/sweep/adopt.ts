import type { Reservation } from '../../clouds/ports/cloud.ts'
import { hasMarks } from '../../clouds/ports/marks.ts'
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/errors.ts'
import { parseIpAddress } from '../../lib/ip-address.ts'
import {
  type AddressKey,
  type ElasticIP,
  type ReclaimPolicy,
  recordName,
  reservationIdOf,
  secondKey,
} from '../record/elastic-ip.ts'
import { isBeingReleased, markAsOurs, findReservation, markRetention } from '../record/find-reservation.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { isRetained, lastingMarks } from '../record/marks.ts'
import { newRecord, wasHeld } from '../record/records.ts'
import { type StatusChange, assigned } from '../record/status.ts'
import { isSource } from '../record/source.ts'
import type { Key } from '../../kube/objects.ts'
import type { Identity } from '../identity/identity.ts'

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

export type RecoverDeps = LedgerDeps & Pick<Identity, 'haltReason'>

/**
 * Restores the records of a Service whose addresses are to be retained, if the provider still has them. Buys nothing.
 * False if there is nothing to write and its first address has no record.
 */
export async function recoverRecords(
  deps: RecoverDeps,
  { service, address }: { service: Key; address: string },
  signal: AbortSignal,
): Promise<boolean> {
  const reason = await deps.haltReason(signal)
  if (reason !== undefined) throw new Error(`its address is not retained yet: ${reason}`)
  const records = await deps.records.list({ signal })
  const names = new Set(records.map(({ metadata }) => metadata.name))
  // A reservation of another record is no orphan: it is kept without us.
  const known = new Set(records.map(reservationIdOf))
  let isRecovered = names.has(recordName(service))
  for (const { key, spec } of addressesOf(service, address)) {
    if (names.has(recordName(key))) continue
    const record = newRecord(key, spec, deps)
    const reservation = await findReservation(deps, record, signal)
    if (!reservation || known.has(reservation.id)) continue
    const adopting = { ...deps, listRecords: () => records, reclaimPolicy: spec.reclaimPolicy }
    if (await adopt(adopting, { key, reservation, record: undefined }, signal)) isRecovered = true
    else await retainByMarks(deps, { record, reservation }, signal)
  }
  return isRecovered
}

/** Another Service shows the address, or a process was faster: only the marks retain it, and the Service may be deleted. */
async function retainByMarks(
  deps: RecoverDeps,
  of: { record: ElasticIP; reservation: Reservation },
  signal: AbortSignal,
): Promise<void> {
  const { id, address } = of.reservation
  await markRetention(deps, { ...of, retained: true }, signal)
  deps.log.warn({ reservation: id, address }, 'retained without an ElasticIP: its reservation could not be adopted')
}

/** The addresses that a Service may have had: the one that it shows, and one of the other family. */
function addressesOf(service: Key, address: string) {
  const second = parseIpAddress(address)?.family === 'ipv6' ? 'ipv4' : 'ipv6'
  const [ipv4, ipv6] = [{ reclaimPolicy: 'Retain' }, { reclaimPolicy: 'Retain', ipFamily: 'IPv6' }] as const
  return [
    { key: service, spec: second === 'ipv6' ? ipv4 : ipv6 },
    { key: secondKey(service, second), spec: second === 'ipv6' ? ipv6 : ipv4 },
  ]
}
