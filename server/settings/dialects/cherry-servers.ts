import { common } from '../common.ts'
import { annotation, boolean, number, numericId, text, token, url } from '../formats.ts'
import { labelSelector } from '../label-selector.ts'
import { loadBalancer } from '../load-balancer.ts'
import type { SettingsTable } from '../setting.ts'
import { defineDialect } from './dialect.ts'

const access = {
  apiKey: {
    title: 'API key',
    env: 'CHERRY_API_KEY',
    field: 'apiKey',
    format: token,
    required: true,
    sentence: 'Token for the API of Cherry Servers.',
  },
  projectId: {
    title: 'project',
    flag: '--project-id',
    env: 'CHERRY_PROJECT_ID',
    field: 'projectID',
    format: numericId,
    required: true,
    sentence: 'Project that pays for the addresses and holds the machines: a whole number.',
  },
  baseUrl: {
    title: 'API base URL',
    flag: '--base-url',
    field: 'base-url',
    format: url('loopback'),
    default: 'https://api.cherryservers.com/v1',
    sentence: 'Where the API is; plain http only on a loopback address.',
  },
} as const satisfies SettingsTable

const addresses = {
  region: {
    title: 'region',
    flag: '--region',
    env: 'CHERRY_REGION_NAME',
    field: 'region',
    format: text('slug'),
    unset: "the Service's annotation",
    sentence: 'Region in which new addresses are reserved: its slug, full name, ISO-2 code or id.',
  },
  loadBalancer: {
    title: 'load balancer',
    flag: '--loadbalancer',
    env: 'CHERRY_LOAD_BALANCER',
    field: 'loadbalancer',
    format: loadBalancer({ namespaceAlone: 'crd', hasEmlb: false, ipAnnotation: 'cherryservers.com/loadBalancerIPs' }),
    default: 'none',
    sentence: 'Who announces addresses: metallb:///, kube-vip:// or empty://; none is load balancing off.',
  },
  annotationFipRegion: {
    title: 'Service annotation: region',
    flag: '--annotation-fip-region',
    env: 'CHERRY_ANNOTATION_FIP_REGION',
    field: 'annotationFIPRegion',
    format: annotation,
    default: 'cherryservers.com/fip-region',
    sentence: 'Annotation by which a Service asks for a region.',
  },
} as const satisfies SettingsTable

const bgp = {
  // Tools that edit a server may switch its BGP off, and one list tells of all of them.
  peerRefreshMs: { ...common.peerRefreshMs, default: '5m' },
  bgpNodeSelector: {
    title: 'BGP node selector',
    flag: '--bgp-node-selector',
    env: 'CHERRY_BGP_NODE_SELECTOR',
    field: 'bgpNodeSelector',
    format: labelSelector,
    unset: 'all nodes',
    sentence: 'Nodes that take part in BGP.',
  },
  annotationLocalAsn: {
    title: 'node annotation: local ASN',
    flag: '--annotation-local-asn',
    env: 'CHERRY_ANNOTATION_LOCAL_ASN',
    field: 'annotationLocalASN',
    format: annotation,
    default: 'cherryservers.com/bgp-peers-{{n}}-node-asn',
    sentence: "Annotation with the node's ASN.",
  },
  annotationPeerAsn: {
    title: 'node annotation: peer ASN',
    flag: '--annotation-peer-asn',
    env: 'CHERRY_ANNOTATION_PEER_ASN',
    field: 'annotationPeerASN',
    format: annotation,
    default: 'cherryservers.com/bgp-peers-{{n}}-peer-asn',
    sentence: "Annotation with the peer's ASN.",
  },
  annotationPeerIp: {
    title: 'node annotation: peer address',
    flag: '--annotation-peer-ip',
    env: 'CHERRY_ANNOTATION_PEER_IP',
    field: 'annotationPeerIP',
    format: annotation,
    default: 'cherryservers.com/bgp-peers-{{n}}-peer-ip',
    sentence: "Annotation with the peer's address.",
  },
  annotationSrcIp: {
    title: 'node annotation: source address',
    flag: '--annotation-src-ip',
    env: 'CHERRY_ANNOTATION_SRC_IP',
    field: 'annotationSrcIP',
    format: annotation,
    default: 'cherryservers.com/bgp-peers-{{n}}-src-ip',
    sentence: 'Annotation with the address from which the node speaks to the peer.',
  },
  annotationMultiHop: {
    title: 'node annotation: multihop',
    flag: '--annotation-multi-hop',
    env: 'CHERRY_ANNOTATION_MULTI_HOP',
    field: 'annotationMultiHop',
    format: annotation,
    default: 'cherryservers.com/bgp-peers-{{n}}-peer-multi-hop',
    sentence: 'Annotation that says `"true"` where the peer is more than one hop away.',
  },
  annotationNetworkIpv4Private: {
    title: 'node annotation: private network',
    flag: '--annotation-network-ipv4-private',
    env: 'CHERRY_ANNOTATION_NETWORK_IPV4_PRIVATE',
    field: 'annotationNetworkIPv4Private',
    format: annotation,
    default: 'cherryservers.com/network-4-private',
    sentence: "Annotation with the CIDR of the node's private network.",
  },
} as const satisfies SettingsTable

const controlPlane = {
  fipTag: {
    title: 'control-plane address tag',
    flag: '--fip-tag',
    env: 'CHERRY_FIP_TAG',
    field: 'fipTag',
    format: text('key=value'),
    unset: 'off',
    sentence: "Tag of the floating IP that is the control plane's address.",
  },
  apiServerPort: {
    title: 'control-plane port',
    flag: '--api-server-port',
    env: 'CHERRY_API_SERVER_PORT',
    field: 'apiServerPort',
    format: number(0, 65_535),
    default: '0',
    sentence: "Port of the control plane's address; 0 is the API server's own.",
  },
  fipHealthCheckUseHostIp: {
    title: 'probe by host address',
    flag: '--fip-health-check-use-host-ip',
    env: 'CHERRY_FIP_HEALTH_CHECK_USE_HOST_IP',
    field: 'fipHealthCheckUseHostIP',
    format: boolean,
    default: 'false',
    sentence: "Control planes are probed by their hosts' addresses instead of the shared one.",
  },
} as const satisfies SettingsTable

/** The settings of Cherry Servers' cloud controller manager, in all its versions. */
export const cherryServers = defineDialect({
  name: 'cherry-servers',
  title: 'Cherry Servers',
  providers: ['cherryservers', 'cherry-servers'],
  secret: 'kube-system/cherry-cloud-config',
  rows: { ...access, ...addresses, ...bgp, ...controlPlane },
})
