import { asnOf, peerAddressesOf, type Fields, fieldsOf, itemsOf, textOf } from '../http/loose-json.ts'
import { Secret } from '../../lib/secret.ts'

/** The parts of a BGP peer group that we need. */
export type PeerGroup = {
  /** The AS number of the servers; undefined until the vendor has set the group up. */
  localAsn: number | undefined
  peerAddresses: string[]
  password: Secret
  isMultihop: boolean
}

/** A peer group's own state, and that of the blocks that its routers announce. */
export type Routing = {
  /** Why no block can be announced. */
  problem: string | undefined
  /** The ids of the blocks that the routers could not accept. */
  failedBlocks: string[]
}

/** In any other status, the routers work, or the group is being set up. */
const badStatuses = ['ERROR', 'ON_HOLD', 'PENDING_DELETION', 'DELETING']

/** The state that a peer group reports, as far as it does. */
export function routingOf({ status: given, location, ipPrefixes }: Fields): Routing {
  const status = textOf(given) ?? ''
  const failed = itemsOf(ipPrefixes)
    ?.map(fieldsOf)
    .filter((prefix) => prefix.status === 'ERROR')
  return {
    problem: badStatuses.includes(status)
      ? `the status of the BGP peer group of ${textOf(location) ?? 'its location'} is ${status}`
      : undefined,
    failedBlocks: failed?.flatMap(({ ipAllocationId }) => textOf(ipAllocationId) ?? []) ?? [],
  }
}

/** The peer group in a response; undefined if it lacks a part without which sessions would be wrong. */
export function parsePeerGroup(group: Fields): PeerGroup | undefined {
  const password = textOf(group.password)
  const peerAddresses = peerAddressesOf(group.peeringLoopbacksV4)
  if (password === undefined || !peerAddresses || peerAddresses.length === 0) return undefined
  return {
    // A requested but unverified number is not used by the sessions.
    localAsn: asnOf(fieldsOf(group.activeAsnDetails).asn),
    peerAddresses,
    password: new Secret(password),
    isMultihop: group.eBgpMultiHop !== 1,
  }
}
