import type { Reservation } from '../clouds/cloud.ts'
import type { AskParts } from './ask.ts'
import { type ElasticIP, reservationOf } from './elastic-ip.ts'
import { forget } from './lost.ts'
import { type StatusChange, condition } from './records.ts'
import { holds, isStock } from './stock.ts'

/**
 * Looks up the reservation that a person has named in a record of theirs: from then on Services can choose the address.
 * Answers why not, where that cannot be, after writing it down.
 */
export async function provision(parts: AskParts, lot: ElasticIP, signal: AbortSignal): Promise<string | undefined> {
  const found = await lookUp(parts, lot, signal)
  if (typeof found !== 'string') return accept(parts, lot, found)
  if (lot.status?.message !== found) await parts.records.writeStatus(lot, refused(parts, found))
  return found
}

/** The reservation of a record, or what is wrong with it. */
async function lookUp(parts: AskParts, lot: ElasticIP, signal: AbortSignal): Promise<Reservation | string> {
  const id = lot.spec.reservationID
  const { name } = parts.cloud
  if (id === undefined) return 'spec.reservationID is missing: say which reservation of the project this is'
  const owner = ownerOf(lot, await parts.records.list({ signal }))
  if (owner) return `reservation ${id} belongs to ElasticIP ${owner.metadata.name} already`
  // The list is of the project; by its id a reservation of another project might be found as well.
  const found = (await parts.cloud.reservations({}, signal)).find((reservation) => reservation.id === id)
  if (!found) return `${name} has no reservation ${id} of public addresses in this project; check spec.reservationID`
  if (found.state === 'denied') return `${name} denied the request for reservation ${id}`
  if (found.state === 'requested' || found.address === undefined) return `${name} has not granted reservation ${id} yet`
  const { location = found.location } = lot.spec
  if (location === found.location) return found
  return `reservation ${id} is in ${found.location ?? 'no place'}, and spec.location says ${location}`
}

/** Whose a reservation is already; of two records by hand that name it, it is the one that was there first. */
function ownerOf(lot: ElasticIP, all: ElasticIP[]): ElasticIP | undefined {
  const bornOf = ({ metadata }: ElasticIP) => `${metadata.creationTimestamp} ${metadata.name}`
  return all
    .filter(({ metadata }) => metadata.name !== lot.metadata.name)
    .filter((other) => reservationOf(other) === lot.spec.reservationID && !holds(other, lot))
    .find((other) => !isStock(other) || other.status?.reservationID !== undefined || bornOf(other) < bornOf(lot))
}

async function accept(parts: AskParts, lot: ElasticIP, { id, address, location }: Reservation): Promise<undefined> {
  const place = location === undefined ? {} : { location }
  const current = await parts.records.writeSpec(lot, { ...lot.spec, ...place })
  const said = { status: 'True', reason: 'Provisioned', message: `reservation ${id}`, now: parts.now() } as const
  await parts.records.writeStatus(current, {
    phase: 'Available',
    address,
    reservationID: id,
    message: undefined,
    conditions: [condition('Reserved', said)],
  })
  parts.log.info({ record: lot.metadata.name, address, reservation: id }, 'address provisioned')
}

/**
 * Writes off an address that a person provisioned, and that the cloud has no more: the Service that has it loses it, for
 * it may be anybody's now.
 */
export async function lose(
  parts: AskParts,
  { lot, record }: { lot: ElasticIP; record: ElasticIP | undefined },
): Promise<void> {
  const { address, reservationID } = lot.status ?? {}
  const why = `${parts.cloud.name} no longer has ${address}, reservation ${reservationID}`
  parts.log.error({ record: lot.metadata.name, address, reservation: reservationID }, 'the cloud has lost this address')
  if (record && holds(record, lot)) await forget(parts, record)
  await parts.records.writeStatus(lot, { ...refused(parts, why), address: undefined, reservationID: undefined })
}

function refused(parts: AskParts, message: string): StatusChange {
  const said = { status: 'False', reason: 'NotProvisioned', message, now: parts.now() } as const
  return { phase: 'Requested', message, conditions: [condition('Reserved', said)] }
}
