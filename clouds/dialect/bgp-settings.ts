import { annotation, asn } from '../../settings/formats.ts'
import { labelSelector } from '../../settings/label-selector.ts'
import { nodeAnnotations } from './annotations.ts'

// Settings about BGP that dialects share. Each has names of its own for their variables and annotations.

/** The ASN with which a project gets BGP. */
export function localAsn(envPrefix: string) {
  return {
    title: 'local ASN',
    flag: '--local-asn',
    env: `${envPrefix}LOCAL_ASN`,
    field: 'localASN',
    format: asn,
    default: '65000',
    sentence:
      'Local ASN with which eip-admission enables BGP on the project. A project that already has BGP keeps its own.',
  } as const
}

/** Which nodes take part in BGP. */
export function bgpNodeSelector(envPrefix: string) {
  return {
    title: 'BGP node selector',
    flag: '--bgp-node-selector',
    env: `${envPrefix}BGP_NODE_SELECTOR`,
    field: 'bgpNodeSelector',
    format: labelSelector,
    unset: 'all nodes',
    sentence: 'Label selector of the nodes that take part in BGP.',
  } as const
}

/** The name of the annotation with the ASN of a node. */
export function annotationLocalAsn(envPrefix: string, name: string) {
  return {
    title: 'local ASN annotation',
    flag: '--annotation-local-asn',
    env: `${envPrefix}ANNOTATION_LOCAL_ASN`,
    field: 'annotationLocalASN',
    format: annotation,
    default: name,
    sentence: 'Name of the node annotation with the ASN of the node.',
    annotation: nodeAnnotations.localAsn,
  } as const
}

/** The names of the annotations that a node has for each of its peers. */
export function peerAnnotations(envPrefix: string, domain: string) {
  return {
    annotationLocalAsn: annotationLocalAsn(envPrefix, `${domain}/bgp-peers-{{n}}-node-asn`),
    annotationPeerAsn: {
      title: 'peer ASN annotation',
      flag: '--annotation-peer-asn',
      env: `${envPrefix}ANNOTATION_PEER_ASN`,
      field: 'annotationPeerASN',
      format: annotation,
      default: `${domain}/bgp-peers-{{n}}-peer-asn`,
      sentence: 'Name of the node annotation with the ASN of a peer.',
      annotation: nodeAnnotations.peerAsn,
    },
    annotationPeerIp: {
      title: 'peer address annotation',
      flag: '--annotation-peer-ip',
      env: `${envPrefix}ANNOTATION_PEER_IP`,
      field: 'annotationPeerIP',
      format: annotation,
      default: `${domain}/bgp-peers-{{n}}-peer-ip`,
      sentence: 'Name of the node annotation with the IP address of a peer.',
      annotation: nodeAnnotations.peerAddress,
    },
    annotationSrcIp: {
      title: 'source address annotation',
      flag: '--annotation-src-ip',
      env: `${envPrefix}ANNOTATION_SRC_IP`,
      field: 'annotationSrcIP',
      format: annotation,
      default: `${domain}/bgp-peers-{{n}}-src-ip`,
      sentence: 'Name of the node annotation with the address that the node uses towards a peer.',
      annotation: nodeAnnotations.sourceAddress,
    },
  } as const
}

/** The name of the annotation with the private network of a node. */
export function annotationNetworkIpv4Private(envPrefix: string, domain: string) {
  return {
    title: 'private network annotation',
    flag: '--annotation-network-ipv4-private',
    env: `${envPrefix}ANNOTATION_NETWORK_IPV4_PRIVATE`,
    field: 'annotationNetworkIPv4Private',
    format: annotation,
    default: `${domain}/network-4-private`,
    sentence: 'Name of the node annotation with the private network of the node.',
    annotation: nodeAnnotations.privateNetwork,
  } as const
}
