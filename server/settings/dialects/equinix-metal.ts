import type { Annotation } from '../../../lib/annotation.ts'
import { annotation, asn, boolean, number, password, text, token, url } from '../formats.ts'
import { labelSelector } from '../label-selector.ts'
import { loadBalancer } from '../load-balancer.ts'
import type { SettingsTable } from '../setting.ts'
import { nodeAnnotations, serviceLocation } from './annotations.ts'
import { defineDialect } from './dialect.ts'

const access = {
  apiKey: {
    title: 'API key',
    env: 'METAL_API_KEY',
    field: 'apiKey',
    format: token,
    required: true,
    sentence: 'Token for the API of Equinix Metal.',
  },
  projectId: {
    title: 'project',
    flag: '--project-id',
    env: 'METAL_PROJECT_ID',
    field: 'projectID',
    format: text('id'),
    required: true,
    sentence: 'Id of the project that pays for the addresses and owns the machines.',
  },
  baseUrl: {
    title: 'API base URL',
    flag: '--base-url',
    field: 'base-url',
    format: url('loopback'),
    default: 'https://api.equinix.com/metal/v1',
    sentence: 'URL of the API. Plain http is allowed only to a loopback address.',
  },
} as const satisfies SettingsTable

const addresses = {
  metro: {
    title: 'metro',
    flag: '--metro',
    env: 'METAL_METRO_NAME',
    field: 'metro',
    format: text('code'),
    unset: "the Service's annotations",
    sentence: 'Metro in which new addresses are reserved.',
  },
  facility: {
    title: 'facility',
    flag: '--facility',
    env: 'METAL_FACILITY_NAME',
    field: 'facility',
    format: text('code'),
    unset: "the metro, then the Service's annotations",
    sentence: 'Facility in which new addresses are reserved. It takes precedence over the metro.',
  },
  loadBalancer: {
    title: 'load balancer',
    flag: '--loadbalancer',
    env: 'METAL_LOAD_BALANCER',
    field: 'loadbalancer',
    format: loadBalancer({ namespaceAlone: 'undecided', hasEmlb: true }),
    default: 'none',
    sentence:
      'Software that announces addresses: metallb:///, kube-vip://, empty:// or emlb:///. With none, there is no load balancing.',
  },
  annotationEipMetro: {
    title: 'metro annotation',
    flag: '--annotation-eip-metro',
    env: 'METAL_ANNOTATION_EIP_METRO',
    field: 'annotationEIPMetro',
    format: annotation,
    default: 'metal.equinix.com/eip-metro',
    sentence: 'Name of the annotation by which a Service requests a metro.',
    annotation: serviceLocation('a metro code, such as `da`', 'the metro setting'),
  },
  annotationEipFacility: {
    title: 'facility annotation',
    flag: '--annotation-eip-facility',
    env: 'METAL_ANNOTATION_EIP_FACILITY',
    field: 'annotationEIPFacility',
    format: annotation,
    default: 'metal.equinix.com/eip-facility',
    sentence: 'Name of the annotation by which a Service requests a facility.',
    annotation: serviceLocation('a facility code, such as `da11`', 'the facility setting'),
  },
} as const satisfies SettingsTable

const bgp = {
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

const controlPlane = {
  eipTag: {
    title: 'control-plane address tag',
    flag: '--eip-tag',
    env: 'METAL_EIP_TAG',
    field: 'eipTag',
    format: text('tag'),
    unset: 'off',
    sentence:
      'Tag of the reservation whose address is the control-plane address. This version does not move that address yet.',
  },
  loadBalancerId: {
    title: 'control-plane load balancer',
    flag: '--load-balancer-id',
    env: 'METAL_LOAD_BALANCER_ID',
    field: 'loadBalancerID',
    format: text('id'),
    unset: 'off',
    sentence: 'Id of the managed load balancer in front of the control plane. This version does not change it yet.',
  },
  apiServerPort: {
    title: 'control-plane port',
    flag: '--api-server-port',
    env: 'METAL_API_SERVER_PORT',
    field: 'apiServerPort',
    format: number(0, 65_535),
    default: '0',
    sentence: "Port at the control-plane address. 0 means the API server's own port.",
  },
  eipHealthCheckUseHostIp: {
    title: 'control-plane probe by host address',
    flag: '--eip-health-check-use-host-ip',
    env: 'METAL_EIP_HEALTH_CHECK_USE_HOST_IP',
    field: 'eipHealthCheckUseHostIP',
    format: boolean,
    default: 'false',
    sentence: 'Probes each control-plane node at its own address instead of the control-plane address.',
  },
} as const satisfies SettingsTable

/** Names of the node annotations before version 3.3 of the predecessor. */
const oldNodeAnnotations = ['node-asn', 'peer-asn', 'peer-ip', 'src-ip', 'bgp-pass'].map((name): Annotation => ({
  name: `metal.equinix.com/${name}`,
  on: 'Node',
  writers: ['predecessor'],
  values: 'as above',
  sentence:
    "Name before the predecessor's version 3.3. With `kube-vip://`, eip-admission removes it, because kube-vip may read it.",
}))

/** The settings of Equinix Metal's cloud controller manager, version 3. */
export const equinixMetal = defineDialect({
  name: 'equinix-metal',
  title: 'Equinix Metal',
  providers: ['equinixmetal', 'equinix-metal'],
  secret: 'kube-system/metal-cloud-config',
  rows: { ...access, ...addresses, ...bgp, ...controlPlane },
  annotations: oldNodeAnnotations,
  annotationPrefix: 'metal.equinix.com/',
})
