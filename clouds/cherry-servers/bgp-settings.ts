import { common } from '../../settings/common.ts'
import { annotation } from '../../settings/formats.ts'
import { labelSelector } from '../../settings/label-selector.ts'
import type { SettingsTable } from '../../settings/setting.ts'
import { nodeAnnotations } from '../dialect/annotations.ts'

/** The BGP settings of the dialect. */
export const bgp = {
  // Tools that edit a server may disable its BGP. One list shows all servers, so a shorter interval costs little.
  peerRefreshMs: { ...common.peerRefreshMs, default: '5m' },
  bgpNodeSelector: {
    title: 'BGP node selector',
    flag: '--bgp-node-selector',
    env: 'CHERRY_BGP_NODE_SELECTOR',
    field: 'bgpNodeSelector',
    format: labelSelector,
    unset: 'all nodes',
    sentence: 'Label selector of the nodes that take part in BGP.',
  },
  annotationLocalAsn: {
    title: 'local ASN annotation',
    flag: '--annotation-local-asn',
    env: 'CHERRY_ANNOTATION_LOCAL_ASN',
    field: 'annotationLocalASN',
    format: annotation,
    default: 'cherryservers.com/bgp-peers-{{n}}-node-asn',
    sentence: 'Name of the node annotation with the ASN of the node.',
    annotation: nodeAnnotations.localAsn,
  },
  annotationPeerAsn: {
    title: 'peer ASN annotation',
    flag: '--annotation-peer-asn',
    env: 'CHERRY_ANNOTATION_PEER_ASN',
    field: 'annotationPeerASN',
    format: annotation,
    default: 'cherryservers.com/bgp-peers-{{n}}-peer-asn',
    sentence: 'Name of the node annotation with the ASN of a peer.',
    annotation: nodeAnnotations.peerAsn,
  },
  annotationPeerIp: {
    title: 'peer address annotation',
    flag: '--annotation-peer-ip',
    env: 'CHERRY_ANNOTATION_PEER_IP',
    field: 'annotationPeerIP',
    format: annotation,
    default: 'cherryservers.com/bgp-peers-{{n}}-peer-ip',
    sentence: 'Name of the node annotation with the IP address of a peer.',
    annotation: nodeAnnotations.peerAddress,
  },
  annotationSrcIp: {
    title: 'source address annotation',
    flag: '--annotation-src-ip',
    env: 'CHERRY_ANNOTATION_SRC_IP',
    field: 'annotationSrcIP',
    format: annotation,
    default: 'cherryservers.com/bgp-peers-{{n}}-src-ip',
    sentence: 'Name of the node annotation with the address that the node uses towards a peer.',
    annotation: nodeAnnotations.sourceAddress,
  },
  annotationMultiHop: {
    title: 'multihop annotation',
    flag: '--annotation-multi-hop',
    env: 'CHERRY_ANNOTATION_MULTI_HOP',
    field: 'annotationMultiHop',
    format: annotation,
    default: 'cherryservers.com/bgp-peers-{{n}}-peer-multi-hop',
    sentence: 'Name of the node annotation for peers that are more than one hop away.',
    annotation: nodeAnnotations.multihop,
  },
  annotationNetworkIpv4Private: {
    title: 'private network annotation',
    flag: '--annotation-network-ipv4-private',
    env: 'CHERRY_ANNOTATION_NETWORK_IPV4_PRIVATE',
    field: 'annotationNetworkIPv4Private',
    format: annotation,
    default: 'cherryservers.com/network-4-private',
    sentence: 'Name of the node annotation with the private network of the node.',
    annotation: nodeAnnotations.privateNetwork,
  },
} as const satisfies SettingsTable
