import type { Annotation } from '../../../lib/annotation.ts'
import { common } from '../common.ts'
import { annotation, boolean, number, numericId, text, token, url } from '../formats.ts'
import { labelSelector } from '../label-selector.ts'
import { loadBalancer } from '../load-balancer.ts'
import type { SettingsTable } from '../setting.ts'
import { nodeAnnotations, serviceLocation } from './annotations.ts'
import { defineDialect } from './dialect.ts'

/** The annotation into which the predecessor writes an address that no software announces. */
const ipAnnotation: Annotation = {
  name: 'cherryservers.com/loadBalancerIPs',
  on: 'Service',
  writers: ['user', 'eip-admission'],
  values: 'an IP address',
  sentence: 'With `empty://`, the address of the Service, or a request for an own address.',
}

/** The annotation by which a user takes a Service out of our hands. */
export const managedAnnotation: Annotation = {
  name: 'cherryservers.com/loadbalancer-managed',
  on: 'Service',
  writers: ['user'],
  values: '`true`, `false`',
  default: '`true`',
  sentence: 'With `false`, eip-admission ignores the Service.',
}

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
    sentence: 'Id of the project that pays for the addresses and owns the machines.',
  },
  baseUrl: {
    title: 'API base URL',
    flag: '--base-url',
    field: 'base-url',
    format: url('loopback'),
    default: 'https://api.cherryservers.com/v1',
    sentence: 'URL of the API. Plain http is allowed only to a loopback address.',
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
    format: loadBalancer({ namespaceAlone: 'crd', hasEmlb: false, ipAnnotation: ipAnnotation.name }),
    default: 'none',
    sentence:
      'Software that announces addresses: metallb:///, kube-vip:// or empty://. With none, there is no load balancing.',
  },
  annotationFipRegion: {
    title: 'region annotation',
    flag: '--annotation-fip-region',
    env: 'CHERRY_ANNOTATION_FIP_REGION',
    field: 'annotationFIPRegion',
    format: annotation,
    default: 'cherryservers.com/fip-region',
    sentence: 'Name of the annotation by which a Service requests a region.',
    annotation: serviceLocation('the slug, full name, ISO-2 code or id of a region', 'the region setting'),
  },
} as const satisfies SettingsTable

const bgp = {
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

const controlPlane = {
  fipTag: {
    title: 'control-plane address tag',
    flag: '--fip-tag',
    env: 'CHERRY_FIP_TAG',
    field: 'fipTag',
    format: text('key=value'),
    unset: 'off',
    sentence: 'Tag of the floating IP that is the control-plane address. This version does not move that address yet.',
  },
  apiServerPort: {
    title: 'control-plane port',
    flag: '--api-server-port',
    env: 'CHERRY_API_SERVER_PORT',
    field: 'apiServerPort',
    format: number(0, 65_535),
    default: '0',
    sentence: "Port at the control-plane address. 0 means the API server's own port.",
  },
  fipHealthCheckUseHostIp: {
    title: 'control-plane probe by host address',
    flag: '--fip-health-check-use-host-ip',
    env: 'CHERRY_FIP_HEALTH_CHECK_USE_HOST_IP',
    field: 'fipHealthCheckUseHostIP',
    format: boolean,
    default: 'false',
    sentence: 'Probes each control-plane node at its own address instead of the control-plane address.',
  },
} as const satisfies SettingsTable

/** The settings of Cherry Servers' cloud controller manager, in all its versions. */
export const cherryServers = defineDialect({
  name: 'cherry-servers',
  title: 'Cherry Servers',
  providers: ['cherryservers', 'cherry-servers'],
  secret: 'kube-system/cherry-cloud-config',
  rows: { ...access, ...addresses, ...bgp, ...controlPlane },
  annotations: [ipAnnotation, managedAnnotation],
  annotationPrefix: 'cherryservers.com/',
})
