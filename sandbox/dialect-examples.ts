import type { DialectName } from './dialects.ts'

type Annotations = Record<string, string>

/** What is told differently in a cluster of each dialect. */
export type DialectExamples = {
  /** A Service that wants its address from another place; absent where there is only one. */
  elsewhere?: { name: string; place: string; annotations: Annotations }
  /** What a person typed, and what the answer proposes. */
  mistake: { annotations: Annotations; hint: string }
  /** The ConfigMap in which MetalLB is told by default; absent where nobody is told. */
  configMap?: { namespace: string; name: string }
  /** How the ids of machines begin. */
  scheme: string
  /** The annotation of a node in which the address of its first router is. */
  peerAddress: string
}

export const dialectExamples: Record<DialectName, DialectExamples> = {
  'equinix-metal': {
    elsewhere: { name: 'Silicon Valley', place: 'sv', annotations: { 'metal.equinix.com/eip-metro': 'sv' } },
    mistake: {
      annotations: { 'metal.equinix.com/eip-metro': 'dallas', 'metal.equinix.com/eip-facilty': 'da11' },
      hint: 'did you mean "da"',
    },
    scheme: 'equinixmetal://',
    peerAddress: 'metal.equinix.com/bgp-peers-0-peer-ip',
  },
  packet: {
    mistake: { annotations: { 'eip-admission.dev/reclaim-polcy': 'Retain' }, hint: 'reclaim-policy' },
    configMap: { namespace: 'metallb-system', name: 'config' },
    scheme: 'packet://',
    peerAddress: 'packet.com/peer.ips',
  },
  'cherry-servers': {
    elsewhere: {
      name: 'Amsterdam',
      place: 'NL-Amsterdam',
      annotations: { 'cherryservers.com/fip-region': 'NL-Amsterdam' },
    },
    mistake: {
      annotations: { 'cherryservers.com/fip-region': 'LT-Siaulai', 'cherryservers.com/fip-regoin': 'LT-Siauliai' },
      hint: 'did you mean "LT-Siauliai"',
    },
    scheme: 'cherryservers://',
    peerAddress: 'cherryservers.com/bgp-peers-0-peer-ip',
  },
}
