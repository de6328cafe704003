// Whether an address that the cloud grants can be a Service's. What a cloud answers is checked as an own address is.
//
//   the address                                   | the record
//   ----------------------------------------------+---------------------------------------------------------------
//   is no IP address, or a special one            | keeps the reservation and gets no address
//   is in a Service or pod range of the cluster   | keeps the reservation and gets no address
//   or its reservation is in another record       | keeps the reservation and gets no address
//   anything else                                 | gets it
import type { Reservation } from '../../clouds/ports/cloud.ts'
import { type IpAddress, parseIpAddress } from '../../lib/ip-address.ts'
import { quote } from '../../lib/quote.ts'
import { findUsers } from '../record/address-use.ts'
import type { ElasticIP } from '../record/elastic-ip.ts'
import { hasSource } from '../record/source.ts'
import { specialKind } from '../want/address-kinds.ts'

export type GrantedFacts = {
  /** The network of this cluster that contains an address, for a message. */
  clusterNetwork: (address: IpAddress) => string | undefined
  records: readonly ElasticIP[]
}

/** Why the record gets no address from this reservation; undefined if it does. */
export function grantedProblem(
  record: ElasticIP,
  { id, address: text = '' }: Pick<Reservation, 'id' | 'address'>,
  { clusterNetwork, records }: GrantedFacts,
): string | undefined {
  const address = parseIpAddress(text)
  if (!address) return `reservation ${id} is ${quote(text)}, which is no IP address`
  const special = specialKind(address)
  if (special !== undefined) return `reservation ${id} is ${address.text}, which ${special}`
  const network = clusterNetwork(address)
  if (network !== undefined) return `reservation ${id} is ${address.text}, which is ${network} of this cluster`
  // A record and the available address that it came from share a reservation.
  const others = records.filter((other) => !hasSource(record, other) && !hasSource(other, record))
  const used = { address: address.text, reservationID: id }
  const all = { services: [], records: others, requestAnnotations: [] }
  const [holder] = findUsers(used, all, { records: [record.metadata.name] })
  return holder && `reservation ${id} is ${address.text}, which ElasticIP ${holder.key} holds already`
}
