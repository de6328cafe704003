import type { Reservation } from '../../clouds/cloud.ts'
import type { LedgerDeps } from '../claim/ask.ts'
import { type ElasticIP, reservationIdOf } from '../record/elastic-ip.ts'
import { resetRecord } from '../release/write-off.ts'
import { type StatusChange, condition } from '../record/records.ts'
import { holdsReservation, isSource } from '../record/source.ts'

/**
 * Looks up the reservation that a person has named in a record of theirs: from then on Services can choose the address.
 * Answers why not, where that cannot be, after writing it down.
 */
export async function provision(deps: LedgerDeps, source: ElasticIP, signal: AbortSignal): Promise<string | undefined> {
  const found = await lookUp(deps, source, signal)
  if (typeof found !== 'string') return accept(deps, source, found)
  if (source.status?.message !== found) await deps.records.writeStatus(source, refused(deps, found))
  return found
}

/** The reservation of a record, or what is wrong with it. */
async function lookUp(deps: LedgerDeps, source: ElasticIP, signal: AbortSignal): Promise<Reservation | string> {
  const id = source.spec.reservationID
  const { name } = deps.cloud
  if (id === undefined) return 'spec.reservationID is missing: say which reservation of the project this is'
  const owner = ownerOf(source, await deps.records.list({ signal }))
  if (owner) return `reservation ${id} belongs to ElasticIP ${owner.metadata.name} already`
  // The list is of the project; by its id a reservation of another project might be found as well.
  const found = (await deps.cloud.reservations({}, signal)).find((reservation) => reservation.id === id)
  if (!found) return `${name} has no reservation ${id} of public addresses in this project; check spec.reservationID`
  if (found.state === 'denied') return `${name} denied the request for reservation ${id}`
  if (found.state === 'requested' || found.address === undefined) return `${name} has not granted reservation ${id} yet`
  const { location = found.location } = source.spec
  if (location === found.location) return found
  return `reservation ${id} is in ${found.location ?? 'no place'}, and spec.location says ${location}`
}

/** Whose a reservation is already; of two records by hand that name it, it is the one that was there first. */
function ownerOf(source: ElasticIP, all: ElasticIP[]): ElasticIP | undefined {
  const bornOf = ({ metadata }: ElasticIP) => `${metadata.creationTimestamp} ${metadata.name}`
  return all
    .filter(({ metadata }) => metadata.name !== source.metadata.name)
    .filter((other) => reservationIdOf(other) === source.spec.reservationID && !holdsReservation(other, source))
    .find((other) => !isSource(other) || other.status?.reservationID !== undefined || bornOf(other) < bornOf(source))
}

async function accept(deps: LedgerDeps, source: ElasticIP, { id, address, location }: Reservation): Promise<undefined> {
  const place = location === undefined ? {} : { location }
  const current = await deps.records.writeSpec(source, { ...source.spec, ...place })
  const said = { status: 'True', reason: 'Provisioned', message: `reservation ${id}`, now: deps.now() } as const
  await deps.records.writeStatus(current, {
    phase: 'Available',
    address,
    reservationID: id,
    message: undefined,
    conditions: [condition('Reserved', said)],
  })
  deps.log.info({ record: source.metadata.name, address, reservation: id }, 'address provisioned')
}

/**
 * Writes off an address that a person provisioned, and that the cloud has no more: the Service that has it loses it, for
 * it may be anybody's now.
 */
export async function writeOffProvisioned(
  deps: LedgerDeps,
  { source, record }: { source: ElasticIP; record: ElasticIP | undefined },
): Promise<void> {
  const { address, reservationID } = source.status ?? {}
  const why = `${deps.cloud.name} no longer has ${address}, reservation ${reservationID}`
  deps.log.error(
    { record: source.metadata.name, address, reservation: reservationID },
    'the cloud has lost this address',
  )
  if (record && holdsReservation(record, source)) await resetRecord(deps, record)
  await deps.records.writeStatus(source, { ...refused(deps, why), address: undefined, reservationID: undefined })
}

function refused(deps: LedgerDeps, message: string): StatusChange {
  const said = { status: 'False', reason: 'NotProvisioned', message, now: deps.now() } as const
  return { phase: 'Requested', message, conditions: [condition('Reserved', said)] }
}
