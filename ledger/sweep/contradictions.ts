import type { Reservation } from '../../clouds/ports/cloud.ts'
import { canonicalIpAddress, parseIpAddress } from '../../lib/ip-address.ts'
import { unusable } from '../claim/granted-address.ts'
import { type ElasticIP, phaseOf, reservationIdOf } from '../record/elastic-ip.ts'
import type { LedgerDeps } from '../record/ledger-deps.ts'
import { hasSource, isAvailable, isWarm } from '../record/source.ts'

/** Two statements of the cloud's list and a record that cannot both be right, for people. */
export type Contradiction = { record: ElasticIP; message: string }

/**
 * Compares the cloud's list with the records that hold an address.
 *
 * | the list                                              | the record                                             |
 * | ----------------------------------------------------- | ------------------------------------------------------ |
 * | has the record's reservation with another address     | keeps its address, which the network knows, and is     |
 * |                                                       | named                                                  |
 * | has the record's address in two reservations          | the same                                               |
 * | has one reservation, which another record holds, too  | the same, unless one got the address from the other    |
 * | has an address that no Service can have               | the same                                               |
 * | has a free warm reservation with another address      | is read again, see `outdatedWarm`: no network knows it |
 */
export function contradictions(
  reservations: readonly Reservation[],
  records: readonly ElasticIP[],
  { clusterNetwork }: Pick<LedgerDeps, 'clusterNetwork'>,
): Contradiction[] {
  const listed = new Map(reservations.map((reservation) => [reservation.id, reservation]))
  const sameAddress = Map.groupBy(reservations, ({ address }) => canonicalIpAddress(address ?? ''))
  const holders = records.filter((record) => phaseOf(record) !== 'Releasing' && record.status?.address !== undefined)
  const sameReservation = Map.groupBy(holders, reservationIdOf)
  return holders.flatMap((record) => {
    const id = reservationIdOf(record)
    const reservation = id === undefined ? undefined : listed.get(id)
    // A network's record may have any address.
    if (!reservation?.address || reservation.prefixLength !== undefined) return []
    const address = record.status?.address ?? ''
    const rival = sameAddress.get(canonicalIpAddress(address))?.find((one) => one.id !== id)
    const other = sameReservation.get(id)?.find((one) => one !== record && !isRelated(one, record))
    const parsed = parseIpAddress(address)
    const problem = parsed && unusable(parsed, clusterNetwork)
    const texts = [
      problem !== undefined && `reservation ${id} is ${address}, which ${problem}`,
      canonicalIpAddress(reservation.address) !== canonicalIpAddress(address) &&
        `the provider lists ${reservation.address} for reservation ${id}, and the record has ${address}`,
      rival && `the provider lists ${address} in reservation ${rival.id} as well as in ${id}`,
      other && `ElasticIP ${other.metadata.name} has reservation ${id} as well`,
    ]
    return texts.filter((text) => typeof text === 'string').map((message) => ({ record, message }))
  })
}

/** The free warm records whose reservation the cloud lists with another address: no Service has seen theirs. */
export function outdatedWarm(reservations: readonly Reservation[], records: readonly ElasticIP[]): ElasticIP[] {
  const listed = new Map(reservations.map(({ id, address }) => [id, canonicalIpAddress(address ?? '')]))
  return records.filter((record) => {
    const address = listed.get(reservationIdOf(record) ?? '')
    const isFree = isWarm(record) && isAvailable(record)
    return isFree && address && address !== canonicalIpAddress(record.status?.address ?? '')
  })
}

/** A record and the available address that it came from share a reservation. */
function isRelated(one: ElasticIP, other: ElasticIP): boolean {
  return hasSource(one, other) || hasSource(other, one)
}
