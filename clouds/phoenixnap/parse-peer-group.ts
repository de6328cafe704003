import { asnOf, peerAddressesOf } from '../http/loose-bgp.ts'
import { type Fields, fieldsOf, textOf } from '../http/loose-json.ts'
import { Secret } from '../../lib/secret.ts'

/** The parts of a BGP peer group that we need. */
export type PeerGroup = {
  /** The number of the servers; undefined until the vendor has set the group up. */
  localAsn: number | undefined
  peerAddresses: string[]
  password: Secret
  isMultihop: boolean
}

/** The peer group in a response; undefined if it lacks a part without which sessions would be wrong. */
export function parsePeerGroup(group: Fields): PeerGroup | undefined {
  const password = textOf(group.password)
  const peerAddresses = peerAddressesOf(group.peeringLoopbacksV4)
  if (password === undefined || !peerAddresses || peerAddresses.length === 0) return undefined
  return {
    // A number that is wanted but not verified yet is not that of the sessions.
    localAsn: asnOf(fieldsOf(group.activeAsnDetails).asn),
    peerAddresses,
    password: new Secret(password),
    isMultihop: group.eBgpMultiHop !== 1,
  }
}
