import type { NodePeers } from '../../announcers/announcer.ts'

/** The last answer of the cloud about a node that takes part in BGP. */
export type PeerFact = NodePeers & {
  /** Id of the machine that the fact is about. */
  machine: string
  /** The network of its private address, in CIDR notation. */
  privateNetwork: string | undefined
}
