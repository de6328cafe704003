import type { ObjectSessions } from '../announcer.ts'
import { parseAddress } from '../shared/address.ts'
import { hostnamesOf } from './adopt-peers.ts'
import type { BGPPeer } from './resources.ts'

/** The sessions of a peer, as far as they are in the network that others have sessions in too. */
export function sessionsOfPeer({ metadata, spec }: BGPPeer): ObjectSessions {
  const address = spec.peerAddress ?? ''
  // A router of a VRF is another one, whatever its address is.
  const router = `${parseAddress(address)?.text ?? (address || metadata.name)}${spec.vrf ? ` in ${spec.vrf}` : ''}`
  return { nodes: hostnamesOf(spec), router, localAsn: spec.myASN }
}

/** Routers accept one session from each node, whatever MetalLB accepts. */
export function excludes(one: ObjectSessions, other: ObjectSessions): boolean {
  return one.router === other.router && hasCommonNode(one, other)
}

/** FRR is one router: with one AS number, and with one session for each other router. */
export function excludesWithFrr(one: ObjectSessions, other: ObjectSessions): boolean {
  return one.router === other.router || one.localAsn !== other.localAsn
}

function hasCommonNode({ nodes: ones }: ObjectSessions, { nodes: others }: ObjectSessions): boolean {
  return ones === undefined || others === undefined || ones.some((node) => others.includes(node))
}
