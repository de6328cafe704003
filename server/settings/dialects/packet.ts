import { common } from '../common.ts'
import { annotation, asn, boolean, duration, text, token, url } from '../formats.ts'
import { loadBalancer } from '../load-balancer.ts'
import type { SettingsTable } from '../setting.ts'
import { defineDialect } from './dialect.ts'

const access = {
  apiKey: {
    title: 'API key',
    env: 'PACKET_API_KEY',
    field: 'apiKey',
    format: token,
    required: true,
    sentence: 'Token for the API of Equinix Metal, as Packet is called now.',
  },
  projectId: {
    title: 'project',
    flag: '--project-id',
    env: 'PACKET_PROJECT_ID',
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
  facility: {
    title: 'facility',
    flag: '--facility',
    env: 'PACKET_FACILITY_NAME',
    field: 'facility',
    format: text('code'),
    unset: 'what the metadata service of the host says',
    sentence: 'Facility in which new addresses are reserved.',
  },
  metadataUrl: {
    title: 'metadata URL',
    flag: '--metadata-url',
    env: 'EIP_METADATA_URL',
    format: url('loopback'),
    default: 'https://metadata.platformequinix.com',
    sentence: 'Where a machine learns about itself; only asked where no facility is set.',
  },
  loadBalancer: {
    title: 'load balancer',
    flag: '--loadbalancer',
    env: 'PACKET_LOAD_BALANCER',
    field: 'loadbalancer',
    format: loadBalancer({ namespaceAlone: 'undecided', hasEmlb: false }),
    default: 'metallb:///metallb-system/config',
    sentence: 'Who announces addresses: metallb:///, kube-vip:// or empty://; none is load balancing off.',
  },
  disableLoadBalancer: {
    title: 'load balancing off',
    flag: '--disable-loadbalancer',
    env: 'PACKET_DISABLE_LB',
    field: 'disable-loadbalancer',
    format: boolean,
    default: 'false',
    sentence: 'Services get no addresses, whatever else is set.',
  },
  sweepIntervalMs: {
    ...common.sweepIntervalMs,
    env: 'PACKET_SWEEP_INTERVAL',
    otherEnv: [common.sweepIntervalMs.env],
    field: 'sweepInterval',
    format: duration(1000),
    default: '30s',
  },
} as const satisfies SettingsTable

const bgp = {
  localAsn: {
    title: 'local ASN',
    flag: '--local-asn',
    env: 'PACKET_LOCAL_ASN',
    field: 'localASN',
    format: asn,
    default: '65000',
    sentence: 'Local ASN when BGP is enabled on the project; a project that has BGP keeps its own.',
  },
  peerAsn: {
    title: 'peer ASN',
    flag: '--peer-asn',
    env: 'PACKET_PEER_ASN',
    field: 'peerASN',
    format: asn,
    default: '65530',
    sentence: 'ASN of the routers that nodes speak with, where the API does not say it.',
  },
  annotationLocalAsn: {
    title: 'node annotation: local ASN',
    flag: '--annotation-local-asn',
    env: 'PACKET_ANNOTATION_LOCAL_ASN',
    field: 'annotationLocalASN',
    format: annotation,
    default: 'packet.com/node.asn',
    sentence: "Annotation with the node's ASN.",
  },
  annotationPeerAsns: {
    title: 'node annotation: peer ASNs',
    flag: '--annotation-peer-asns',
    env: 'PACKET_ANNOTATION_PEER_ASNS',
    field: 'annotationPeerASNs',
    format: annotation,
    default: 'packet.com/peer.asns',
    sentence: 'Annotation with the ASNs of all peers, separated by commas.',
  },
  annotationPeerIps: {
    title: 'node annotation: peer addresses',
    flag: '--annotation-peer-ips',
    env: 'PACKET_ANNOTATION_PEER_IPS',
    field: 'annotationPeerIPs',
    format: annotation,
    default: 'packet.com/peer.ips',
    sentence: 'Annotation with the addresses of all peers, separated by commas.',
  },
} as const satisfies SettingsTable

const controlPlane = {
  eipTag: {
    title: 'control-plane address tag',
    flag: '--eip-tag',
    env: 'PACKET_EIP_TAG',
    field: 'eipTag',
    format: text('tag'),
    unset: 'off',
    sentence: "Tag of the reservation that is the control plane's address.",
  },
} as const satisfies SettingsTable

/** The settings of Packet's cloud controller manager, version 1. */
export const packet = defineDialect({
  name: 'packet',
  title: 'Packet',
  providers: ['packet'],
  secret: 'kube-system/packet-cloud-config',
  rows: { ...access, ...addresses, ...bgp, ...controlPlane },
})
