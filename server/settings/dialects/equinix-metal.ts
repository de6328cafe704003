import { annotation, asn, boolean, number, password, text, token, url } from '../formats.ts'
import { labelSelector } from '../label-selector.ts'
import { loadBalancer } from '../load-balancer.ts'
import type { SettingsTable } from '../setting.ts'
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
    sentence: 'Project that pays for the addresses and holds the machines.',
  },
  baseUrl: {
    title: 'API base URL',
    flag: '--base-url',
    field: 'base-url',
    format: url('loopback'),
    default: 'https://api.equinix.com/metal/v1',
    sentence: 'Where the API is; plain http only on a loopback address.',
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
    sentence: 'Facility in which new addresses are reserved; goes before the metro.',
  },
  loadBalancer: {
    title: 'load balancer',
    flag: '--loadbalancer',
    env: 'METAL_LOAD_BALANCER',
    field: 'loadbalancer',
    format: loadBalancer({ namespaceAlone: 'undecided', hasEmlb: true }),
    default: 'none',
    sentence: 'Who announces addresses: metallb:///, kube-vip://, empty:// or emlb:///; none is load balancing off.',
  },
  annotationEipMetro: {
    title: 'Service annotation: metro',
    flag: '--annotation-eip-metro',
    env: 'METAL_ANNOTATION_EIP_METRO',
    field: 'annotationEIPMetro',
    format: annotation,
    default: 'metal.equinix.com/eip-metro',
    sentence: 'Annotation by which a Service asks for a metro.',
  },
  annotationEipFacility: {
    title: 'Service annotation: facility',
    flag: '--annotation-eip-facility',
    env: 'METAL_ANNOTATION_EIP_FACILITY',
    field: 'annotationEIPFacility',
    format: annotation,
    default: 'metal.equinix.com/eip-facility',
    sentence: 'Annotation by which a Service asks for a facility.',
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
    sentence: 'Local ASN when BGP is enabled on the project; a project that has BGP keeps its own.',
  },
  bgpPass: {
    title: 'BGP password',
    env: 'METAL_BGP_PASS',
    field: 'bgpPass',
    format: password,
    unset: 'none',
    sentence: 'Password when BGP is enabled on the project; a project that has BGP keeps its own.',
  },
  bgpNodeSelector: {
    title: 'BGP node selector',
    flag: '--bgp-node-selector',
    env: 'METAL_BGP_NODE_SELECTOR',
    field: 'bgpNodeSelector',
    format: labelSelector,
    unset: 'all nodes',
    sentence: 'Nodes that take part in BGP.',
  },
  annotationLocalAsn: {
    title: 'node annotation: local ASN',
    flag: '--annotation-local-asn',
    env: 'METAL_ANNOTATION_LOCAL_ASN',
    field: 'annotationLocalASN',
    format: annotation,
    default: 'metal.equinix.com/bgp-peers-{{n}}-node-asn',
    sentence: "Annotation with the node's ASN.",
  },
  annotationPeerAsn: {
    title: 'node annotation: peer ASN',
    flag: '--annotation-peer-asn',
    env: 'METAL_ANNOTATION_PEER_ASN',
    field: 'annotationPeerASN',
    format: annotation,
    default: 'metal.equinix.com/bgp-peers-{{n}}-peer-asn',
    sentence: "Annotation with the peer's ASN.",
  },
  annotationPeerIp: {
    title: 'node annotation: peer address',
    flag: '--annotation-peer-ip',
    env: 'METAL_ANNOTATION_PEER_IP',
    field: 'annotationPeerIP',
    format: annotation,
    default: 'metal.equinix.com/bgp-peers-{{n}}-peer-ip',
    sentence: "Annotation with the peer's address.",
  },
  annotationSrcIp: {
    title: 'node annotation: source address',
    flag: '--annotation-src-ip',
    env: 'METAL_ANNOTATION_SRC_IP',
    field: 'annotationSrcIP',
    format: annotation,
    default: 'metal.equinix.com/bgp-peers-{{n}}-src-ip',
    sentence: 'Annotation with the address from which the node speaks to the peer.',
  },
  annotationBgpPass: {
    title: 'node annotation: BGP password',
    flag: '--annotation-bgp-pass',
    env: 'METAL_ANNOTATION_BGP_PASS',
    field: 'annotationBGPPass',
    format: annotation,
    default: 'metal.equinix.com/bgp-peers-{{n}}-bgp-pass',
    sentence: 'Annotation with the BGP MD5 password, in base64.',
  },
  annotationNetworkIpv4Private: {
    title: 'node annotation: private network',
    flag: '--annotation-network-ipv4-private',
    env: 'METAL_ANNOTATION_NETWORK_IPV4_PRIVATE',
    field: 'annotationNetworkIPv4Private',
    format: annotation,
    default: 'metal.equinix.com/network-4-private',
    sentence: "Annotation with the CIDR of the node's private network.",
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
    sentence: "Tag of the reservation that is the control plane's address.",
  },
  loadBalancerId: {
    title: 'control-plane load balancer',
    flag: '--load-balancer-id',
    env: 'METAL_LOAD_BALANCER_ID',
    field: 'loadBalancerID',
    format: text('id'),
    unset: 'off',
    sentence: 'Managed load balancer in front of the control plane.',
  },
  apiServerPort: {
    title: 'control-plane port',
    flag: '--api-server-port',
    env: 'METAL_API_SERVER_PORT',
    field: 'apiServerPort',
    format: number(0, 65_535),
    default: '0',
    sentence: "Port of the control plane's address; 0 is the API server's own.",
  },
  eipHealthCheckUseHostIp: {
    title: 'probe by host address',
    flag: '--eip-health-check-use-host-ip',
    env: 'METAL_EIP_HEALTH_CHECK_USE_HOST_IP',
    field: 'eipHealthCheckUseHostIP',
    format: boolean,
    default: 'false',
    sentence: "Control planes are probed by their hosts' addresses instead of the shared one.",
  },
} as const satisfies SettingsTable

/** The settings of Equinix Metal's cloud controller manager, version 3. */
export const equinixMetal = defineDialect({
  name: 'equinix-metal',
  title: 'Equinix Metal',
  providers: ['equinixmetal', 'equinix-metal'],
  secret: 'kube-system/metal-cloud-config',
  rows: { ...access, ...addresses, ...bgp, ...controlPlane },
})
