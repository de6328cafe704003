// What each predecessor writes for MetalLB, field by field, as the API server shows it in v1beta2.
import type { KubeObject } from '../../kube/objects.ts'
import { marks } from './cluster.ts'

const label = { [marks.label.name]: marks.label.value }

export type Predecessor = 'CPEM 3.7' | 'CPEM 3.8' | 'Cherry 1.35.2' | 'Cherry main' | 'Cherry main for FRR'

/** A node, and its own address. */
export type PredecessorNode = { name: string; address: string }

/** What a predecessor configures: nodes, routers, the Services that it counts, and their addresses. */
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
  const pools = facts.services.map(({ name, address }) => ({
    ...made('IPAddressPool', `default.${name}`, { [`service-${name}`]: 'namespace-default' }),
    spec: { addresses: [`${address}/32`], autoAssign: false },
  }))
  const advertisement = {
    ...made('BGPAdvertisement', marks.advertisement),
    spec: { ipAddressPools: pools.map(({ metadata }) => metadata.name) },
  }
  return [...pools, advertisement, ...peersOf(predecessor, facts)]
}

function peersOf(predecessor: Predecessor, facts: PredecessorFacts): KubeObject[] {
  const { nodes, routers, localAsn, peerAsn, password, services, region = 'LT-Siauliai' } = facts
  const isCherry = predecessor.startsWith('Cherry')
  const domain = isCherry ? 'nomatch.cherryservers.com' : 'nomatch.metal.equinix.com'
  const counts = services.map(({ name }) => ({
    matchLabels: { [`${domain}/service-namespace`]: 'default', [`${domain}/service-name`]: name },
  }))
  const peer = (name: string, selector: object, more: object) => ({
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
function ownFields(predecessor: Predecessor, sourceAddress: string): object {
  switch (predecessor) {
    case 'Cherry main':
      return { peerPort: 179, sourceAddress, holdTime: '30s' }
    case 'Cherry 1.35.2':
      return { peerPort: 179, holdTime: '0s' }
    case 'Cherry main for FRR':
      return { peerPort: 179, holdTime: '30s', ebgpMultiHop: true }
    case 'CPEM 3.7':
    case 'CPEM 3.8':
      return { sourceAddress, holdTime: '0s' }
  }
}

function made(kind: string, name: string, labels: Record<string, string> = {}): KubeObject {
  // BGPPeers too: no predecessor writes v1beta2.
  const metadata = { name, namespace: marks.namespace, labels: { ...label, ...labels } }
  return { apiVersion: 'metallb.io/v1beta1', kind, metadata }
}
