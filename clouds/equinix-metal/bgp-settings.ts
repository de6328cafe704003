import type { Annotation } from '../../lib/annotation.ts'
import { annotation, asn, password } from '../../settings/formats.ts'
import { labelSelector } from '../../settings/label-selector.ts'
import type { SettingsTable } from '../../settings/setting.ts'
import { nodeAnnotations } from '../dialect/annotations.ts'

/** The BGP settings of the dialect. */
export const bgp = {
  localAsn: {
    title: 'local ASN',
    flag: '--local-asn',
    env: 'METAL_LOCAL_ASN',
    field: 'localASN',
    format: asn,
    default: '65000',
    sentence:
      'Local ASN with which eip-admission enables BGP on the project. A project that already has BGP keeps its own.',
  },
  bgpPass: {
    title: 'BGP password',
    env: 'METAL_BGP_PASS',
    field: 'bgpPass',
    format: password,
    unset: 'none',
    sentence:
      'Password with which eip-admission enables BGP on the project. A project that already has BGP keeps its own.',
  },
  bgpNodeSelector: {
    title: 'BGP node selector',
    flag: '--bgp-node-selector',
    env: 'METAL_BGP_NODE_SELECTOR',
    field: 'bgpNodeSelector',
    format: labelSelector,
    unset: 'all nodes',
    sentence: 'Label selector of the nodes that take part in BGP.',
  },
  annotationLocalAsn: {
    title: 'local ASN annotation',
    flag: '--annotation-local-asn',
    env: 'METAL_ANNOTATION_LOCAL_ASN',
    field: 'annotationLocalASN',
    format: annotation,
    default: 'metal.equinix.com/bgp-peers-{{n}}-node-asn',
    sentence: 'Name of the node annotation with the ASN of the node.',
    annotation: nodeAnnotations.localAsn,
  },
  annotationPeerAsn: {
    title: 'peer ASN annotation',
    flag: '--annotation-peer-asn',
    env: 'METAL_ANNOTATION_PEER_ASN',
    field: 'annotationPeerASN',
    format: annotation,
    default: 'metal.equinix.com/bgp-peers-{{n}}-peer-asn',
    sentence: 'Name of the node annotation with the ASN of a peer.',
    annotation: nodeAnnotations.peerAsn,
  },
  annotationPeerIp: {
    title: 'peer address annotation',
    flag: '--annotation-peer-ip',
    env: 'METAL_ANNOTATION_PEER_IP',
    field: 'annotationPeerIP',
    format: annotation,
    default: 'metal.equinix.com/bgp-peers-{{n}}-peer-ip',
    sentence: 'Name of the node annotation with the IP address of a peer.',
    annotation: nodeAnnotations.peerAddress,
  },
  annotationSrcIp: {
    title: 'source address annotation',
    flag: '--annotation-src-ip',
    env: 'METAL_ANNOTATION_SRC_IP',
    field: 'annotationSrcIP',
    format: annotation,
    default: 'metal.equinix.com/bgp-peers-{{n}}-src-ip',
    sentence: 'Name of the node annotation with the address that the node uses towards a peer.',
    annotation: nodeAnnotations.sourceAddress,
  },
  annotationBgpPass: {
    title: 'BGP password annotation',
    flag: '--annotation-bgp-pass',
    env: 'METAL_ANNOTATION_BGP_PASS',
    field: 'annotationBGPPass',
    format: annotation,
    default: 'metal.equinix.com/bgp-peers-{{n}}-bgp-pass',
    sentence: 'Name of the node annotation with the BGP password.',
    annotation: nodeAnnotations.password,
  },
  annotationNetworkIpv4Private: {
    title: 'private network annotation',
    flag: '--annotation-network-ipv4-private',
    env: 'METAL_ANNOTATION_NETWORK_IPV4_PRIVATE',
    field: 'annotationNetworkIPv4Private',
    format: annotation,
    default: 'metal.equinix.com/network-4-private',
    sentence: 'Name of the node annotation with the private network of the node.',
    annotation: nodeAnnotations.privateNetwork,
  },
} as const satisfies SettingsTable

/** Names of the node annotations before version 3.3 of the predecessor. */
export const oldNodeAnnotations = ['node-asn', 'peer-asn', 'peer-ip', 'src-ip', 'bgp-pass'].map((name): Annotation => ({
  name: `metal.equinix.com/${name}`,
  on: 'Node',
  writers: ['predecessor'],
  values: 'as above',
  sentence:
    "Name before the predecessor's version 3.3. With `kube-vip://`, eip-admission removes it, because kube-vip may read it.",
}))
