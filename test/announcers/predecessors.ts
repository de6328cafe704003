// The objects that each predecessor writes for MetalLB, field by field, as the API server shows it in v1beta2.
import type { KubeObject } from '../../kube/objects.ts'
import type { LabelSelector } from '../../lib/label-selector.ts'
import { marks } from './cluster.ts'

const label = { [marks.label.name]: marks.label.value }

export type Predecessor = 'CPEM 3.7' | 'CPEM 3.8' | 'Cherry 1.35.2' | 'Cherry main' | 'Cherry main for FRR'

/** A node, and its own address. */
export type PredecessorNode = { name: string; address: string }

/** The facts that a predecessor configures: nodes, routers, the Services that it counts, and their addresses. */
export type PredecessorFacts = {
  nodes: PredecessorNode[]
  routers: readonly string[]
  localAsn: number
  peerAsn: number
  password?: string | undefined
  services: { name: string; address: string }[]
  region?: string
}

/** The objects in the version that predecessors write, which holds the two times even where they are zero. */
export function objectsOf(predecessor: Predecessor, facts: PredecessorFacts): KubeObject[] {
  const pools = facts.services.map(({ name, address }) => poolOf({ namespace: 'default', name }, address))
  const counts = facts.services.map(({ name }) => countOf(predecessor, { namespace: 'default', name }))
  return [...pools, advertisementOf(pools.map(({ metadata }) => metadata.name)), ...peersOf(predecessor, facts, counts)]
}

export type Counted = { namespace: string; name: string }

/** The pool of a Service. */
export function poolOf({ namespace, name }: Counted, address: string) {
  return {
    ...made('IPAddressPool', `${namespace}.${name}`, { [`service-${name}`]: `namespace-${namespace}` }),
    spec: { addresses: [`${address}/32`], autoAssign: false },
  }
}

/** The advertisement, which names every pool. */
export function advertisementOf(pools: string[]) {
  return { ...made('BGPAdvertisement', marks.advertisement), spec: { ipAddressPools: pools } }
}

/** The selector that fits no node and counts a Service. */
export function countOf(predecessor: Predecessor, { namespace, name }: Counted): LabelSelector {
  const domain = predecessor.startsWith('Cherry') ? 'nomatch.cherryservers.com' : 'nomatch.metal.equinix.com'
  return { matchLabels: { [`${domain}/service-namespace`]: namespace, [`${domain}/service-name`]: name } }
}

/** The peers of all nodes, with these counts. */
export function peersOf(
  predecessor: Predecessor,
  facts: Omit<PredecessorFacts, 'services'>,
  counts: LabelSelector[] = [],
): PeerObject[] {
  const { nodes, routers, localAsn, peerAsn, password, region = 'LT-Siauliai' } = facts
  const peer = (name: string, selector: LabelSelector, more: PeerFields): PeerObject => ({
    ...made('BGPPeer', name),
    spec: { myASN: localAsn, peerASN: peerAsn, keepaliveTime: '0s', nodeSelectors: [selector, ...counts], ...more },
  })
  if (predecessor === 'Cherry main for FRR') {
    const ofRegion = { matchLabels: { 'topology.kubernetes.io/region': region } }
    return routers.map((peerAddress, n) =>
      peer(`${region.toLowerCase()}-${n}`, ofRegion, { peerAddress, ...ownFields(predecessor, '') }),
    )
  }
  return nodes.flatMap(({ name, address: sourceAddress }) =>
    routers.map((peerAddress, n) =>
      peer(
        `${name}-${n}`,
        { matchLabels: { 'kubernetes.io/hostname': name } },
        {
          peerAddress,
          ...(password === undefined ? {} : { password }),
          ...ownFields(predecessor, sourceAddress),
        },
      ),
    ),
  )
}

/** In which the programs differ: Cherry wrote no source before March 2026, and Equinix Metal's never a hold time. */
function ownFields(predecessor: Predecessor, sourceAddress: string): PeerFields {
  switch (predecessor) {
    case 'Cherry main':
      return { peerPort: 179, sourceAddress, holdTime: '30s' }
    case 'Cherry 1.35.2':
      return { peerPort: 179, holdTime: '0s' }
    case 'Cherry main for FRR':
      return { peerPort: 179, holdTime: '30s', ebgpMultiHop: true }
    case 'CPEM 3.7':
    case 'CPEM 3.8':
      return { peerPort: 179, sourceAddress, holdTime: '0s' }
  }
}

/** The fields of a peer as v1beta1 has them. */
export type PeerFields = {
  peerAddress?: string
  peerPort?: number
  sourceAddress?: string
  password?: string
  holdTime?: string
  keepaliveTime?: string
  routerID?: string
  bfdProfile?: string
  ebgpMultiHop?: boolean
}

export type PeerObject = KubeObject & {
  spec: PeerFields & { myASN: number; peerASN: number; nodeSelectors: LabelSelector[] }
}

function made(kind: string, name: string, labels: Record<string, string> = {}): KubeObject {
  // BGPPeers too: no predecessor writes v1beta2.
  const metadata = { name, namespace: marks.namespace, labels: { ...label, ...labels } }
  return { apiVersion: 'metallb.io/v1beta1', kind, metadata }
}
