// Contract with users of the predecessors: the names of their settings, and what holds when nothing is said.

/** A setting as it is promised; a value and another one that it may have. */
export type Promised = {
  flag?: string
  env?: string
  field?: string
  otherwise: unknown
  one: unknown
  other: unknown
}

export const required = Symbol('required')

const texts = { one: 'one', other: 'other' }
const numbers = { one: 1, other: 2 }
const ids = { one: 218_450, other: 7 }
const switches = { one: true, other: false }
const annotations = { one: 'example.com/one', other: 'example.com/other-{{n}}' }
const urls = { one: 'https://one.example.com', other: 'http://127.0.0.1:8080/v1' }
const announcers = { one: 'kube-vip://', other: 'none' }
const none = { kind: 'none' }

/** A row: its names, what holds otherwise, its values. */
function row(
  names: [flag: string | undefined, env: string | undefined, field: string | undefined],
  otherwise: unknown,
  values: { one: unknown; other: unknown },
): Promised {
  const [flag, env, field] = names
  return { ...(flag && { flag }), ...(env && { env }), ...(field && { field }), otherwise, ...values }
}

const metalUrl = 'https://api.equinix.com/metal/v1'

export const equinixMetalContract = {
  apiKey: row([undefined, 'METAL_API_KEY', 'apiKey'], required, texts),
  projectId: row(['--project-id', 'METAL_PROJECT_ID', 'projectID'], required, texts),
  metro: row(['--metro', 'METAL_METRO_NAME', 'metro'], undefined, texts),
  facility: row(['--facility', 'METAL_FACILITY_NAME', 'facility'], undefined, texts),
  baseUrl: row(['--base-url', undefined, 'base-url'], metalUrl, urls),
  balancersUrl: row(
    ['--load-balancer-api-url', 'EIP_LOAD_BALANCER_API_URL', undefined],
    'https://lb.metalctrl.io',
    urls,
  ),
  tokensUrl: row(['--token-exchange-url', 'EIP_TOKEN_EXCHANGE_URL', undefined], 'https://iam.metalctrl.io', urls),
  loadBalancer: row(['--loadbalancer', 'METAL_LOAD_BALANCER', 'loadbalancer'], none, announcers),
  localAsn: row(['--local-asn', 'METAL_LOCAL_ASN', 'localASN'], 65_000, numbers),
  bgpPass: row([undefined, 'METAL_BGP_PASS', 'bgpPass'], undefined, texts),
  annotationLocalAsn: row(
    ['--annotation-local-asn', 'METAL_ANNOTATION_LOCAL_ASN', 'annotationLocalASN'],
    'metal.equinix.com/bgp-peers-{{n}}-node-asn',
    annotations,
  ),
  annotationPeerAsn: row(
    ['--annotation-peer-asn', 'METAL_ANNOTATION_PEER_ASN', 'annotationPeerASN'],
    'metal.equinix.com/bgp-peers-{{n}}-peer-asn',
    annotations,
  ),
  annotationPeerIp: row(
    ['--annotation-peer-ip', 'METAL_ANNOTATION_PEER_IP', 'annotationPeerIP'],
    'metal.equinix.com/bgp-peers-{{n}}-peer-ip',
    annotations,
  ),
  annotationSrcIp: row(
    ['--annotation-src-ip', 'METAL_ANNOTATION_SRC_IP', 'annotationSrcIP'],
    'metal.equinix.com/bgp-peers-{{n}}-src-ip',
    annotations,
  ),
  annotationBgpPass: row(
    ['--annotation-bgp-pass', 'METAL_ANNOTATION_BGP_PASS', 'annotationBGPPass'],
    'metal.equinix.com/bgp-peers-{{n}}-bgp-pass',
    annotations,
  ),
  annotationNetworkIpv4Private: row(
    ['--annotation-network-ipv4-private', 'METAL_ANNOTATION_NETWORK_IPV4_PRIVATE', 'annotationNetworkIPv4Private'],
    'metal.equinix.com/network-4-private',
    annotations,
  ),
  annotationEipMetro: row(
    ['--annotation-eip-metro', 'METAL_ANNOTATION_EIP_METRO', 'annotationEIPMetro'],
    'metal.equinix.com/eip-metro',
    annotations,
  ),
  annotationEipFacility: row(
    ['--annotation-eip-facility', 'METAL_ANNOTATION_EIP_FACILITY', 'annotationEIPFacility'],
    'metal.equinix.com/eip-facility',
    annotations,
  ),
  eipTag: row(['--eip-tag', 'METAL_EIP_TAG', 'eipTag'], undefined, texts),
  loadBalancerId: row(['--load-balancer-id', 'METAL_LOAD_BALANCER_ID', 'loadBalancerID'], undefined, texts),
  apiServerPort: row(['--api-server-port', 'METAL_API_SERVER_PORT', 'apiServerPort'], 0, numbers),
  bgpNodeSelector: row(['--bgp-node-selector', 'METAL_BGP_NODE_SELECTOR', 'bgpNodeSelector'], undefined, texts),
  eipHealthCheckUseHostIp: row(
    ['--eip-health-check-use-host-ip', 'METAL_EIP_HEALTH_CHECK_USE_HOST_IP', 'eipHealthCheckUseHostIP'],
    false,
    switches,
  ),
}

export const packetContract = {
  apiKey: row([undefined, 'PACKET_API_KEY', 'apiKey'], required, texts),
  projectId: row(['--project-id', 'PACKET_PROJECT_ID', 'projectID'], required, texts),
  facility: row(['--facility', 'PACKET_FACILITY_NAME', 'facility'], undefined, texts),
  baseUrl: row(['--base-url', undefined, 'base-url'], metalUrl, urls),
  localAsn: row(['--local-asn', 'PACKET_LOCAL_ASN', 'localASN'], 65_000, numbers),
  peerAsn: row(['--peer-asn', 'PACKET_PEER_ASN', 'peerASN'], undefined, numbers),
  annotationLocalAsn: row(
    ['--annotation-local-asn', 'PACKET_ANNOTATION_LOCAL_ASN', 'annotationLocalASN'],
    'packet.com/node.asn',
    annotations,
  ),
  annotationPeerAsns: row(
    ['--annotation-peer-asns', 'PACKET_ANNOTATION_PEER_ASNS', 'annotationPeerASNs'],
    'packet.com/peer.asns',
    annotations,
  ),
  annotationPeerIps: row(
    ['--annotation-peer-ips', 'PACKET_ANNOTATION_PEER_IPS', 'annotationPeerIPs'],
    'packet.com/peer.ips',
    annotations,
  ),
  disableLoadBalancer: row(['--disable-loadbalancer', 'PACKET_DISABLE_LB', 'disable-loadbalancer'], false, switches),
  eipTag: row(['--eip-tag', 'PACKET_EIP_TAG', 'eipTag'], undefined, texts),
  sweepIntervalMs: row(['--sweep-interval', 'PACKET_SWEEP_INTERVAL', 'sweepInterval'], 30_000, {
    one: '10s',
    other: '1m',
  }),
  // These values are ours: the predecessor knew MetalLB's ConfigMap alone, and one metadata service.
  loadBalancer: row(
    ['--loadbalancer', 'PACKET_LOAD_BALANCER', 'loadbalancer'],
    { kind: 'metallb-configmap', namespace: 'metallb-system', name: 'config' },
    announcers,
  ),
  metadataUrl: row(['--metadata-url', 'EIP_METADATA_URL', undefined], 'https://metadata.platformequinix.com', urls),
}

export const cherryServersContract = {
  apiKey: row([undefined, 'CHERRY_API_KEY', 'apiKey'], required, texts),
  projectId: row(['--project-id', 'CHERRY_PROJECT_ID', 'projectID'], required, ids),
  region: row(['--region', 'CHERRY_REGION_NAME', 'region'], undefined, texts),
  baseUrl: row(['--base-url', undefined, 'base-url'], 'https://api.cherryservers.com/v1', urls),
  loadBalancer: row(['--loadbalancer', 'CHERRY_LOAD_BALANCER', 'loadbalancer'], none, announcers),
  peerRefreshMs: row(['--peer-refresh-interval', 'EIP_PEER_REFRESH_INTERVAL', undefined], 300_000, {
    one: '10s',
    other: '1m',
  }),
  annotationLocalAsn: row(
    ['--annotation-local-asn', 'CHERRY_ANNOTATION_LOCAL_ASN', 'annotationLocalASN'],
    'cherryservers.com/bgp-peers-{{n}}-node-asn',
    annotations,
  ),
  annotationPeerAsn: row(
    ['--annotation-peer-asn', 'CHERRY_ANNOTATION_PEER_ASN', 'annotationPeerASN'],
    'cherryservers.com/bgp-peers-{{n}}-peer-asn',
    annotations,
  ),
  annotationPeerIp: row(
    ['--annotation-peer-ip', 'CHERRY_ANNOTATION_PEER_IP', 'annotationPeerIP'],
    'cherryservers.com/bgp-peers-{{n}}-peer-ip',
    annotations,
  ),
  annotationSrcIp: row(
    ['--annotation-src-ip', 'CHERRY_ANNOTATION_SRC_IP', 'annotationSrcIP'],
    'cherryservers.com/bgp-peers-{{n}}-src-ip',
    annotations,
  ),
  annotationMultiHop: row(
    ['--annotation-multi-hop', 'CHERRY_ANNOTATION_MULTI_HOP', 'annotationMultiHop'],
    'cherryservers.com/bgp-peers-{{n}}-peer-multi-hop',
    annotations,
  ),
  annotationNetworkIpv4Private: row(
    ['--annotation-network-ipv4-private', 'CHERRY_ANNOTATION_NETWORK_IPV4_PRIVATE', 'annotationNetworkIPv4Private'],
    'cherryservers.com/network-4-private',
    annotations,
  ),
  annotationFipRegion: row(
    ['--annotation-fip-region', 'CHERRY_ANNOTATION_FIP_REGION', 'annotationFIPRegion'],
    'cherryservers.com/fip-region',
    annotations,
  ),
  fipTag: row(['--fip-tag', 'CHERRY_FIP_TAG', 'fipTag'], undefined, { one: 'k8s=cp', other: 'k8s' }),
  apiServerPort: row(['--api-server-port', 'CHERRY_API_SERVER_PORT', 'apiServerPort'], 0, numbers),
  bgpNodeSelector: row(['--bgp-node-selector', 'CHERRY_BGP_NODE_SELECTOR', 'bgpNodeSelector'], undefined, texts),
  fipHealthCheckUseHostIp: row(
    ['--fip-health-check-use-host-ip', 'CHERRY_FIP_HEALTH_CHECK_USE_HOST_IP', 'fipHealthCheckUseHostIP'],
    false,
    switches,
  ),
}

export const scalewayContract = {
  apiKey: row([undefined, 'SCW_SECRET_KEY', 'secretKey'], required, texts),
  projectId: row(['--project-id', 'SCW_DEFAULT_PROJECT_ID', 'projectID'], required, texts),
  baseUrl: row(['--base-url', 'SCW_API_URL', 'apiURL'], 'https://api.scaleway.com', urls),
  zone: row(['--zone', 'SCW_DEFAULT_ZONE', 'zone'], required, texts),
  loadBalancer: row(['--loadbalancer', 'SCW_LOAD_BALANCER', 'loadbalancer'], none, {
    one: 'assign:///?probe=off',
    other: 'empty://',
  }),
  fipTag: row(['--fip-tag', 'SCW_FIP_TAG', 'fipTag'], undefined, { one: 'k8s=cp', other: 'k8s' }),
  apiServerPort: row(['--api-server-port', 'SCW_API_SERVER_PORT', 'apiServerPort'], 0, numbers),
  fipHealthCheckUseHostIp: row(
    ['--fip-health-check-use-host-ip', 'SCW_FIP_HEALTH_CHECK_USE_HOST_IP', 'fipHealthCheckUseHostIP'],
    false,
    switches,
  ),
}

export const hetznerContract = {
  apiKey: row([undefined, 'HCLOUD_TOKEN', 'token'], required, texts),
  baseUrl: row(['--base-url', 'HCLOUD_ENDPOINT', 'endpoint'], 'https://api.hetzner.cloud/v1', urls),
  location: row(['--location', 'HCLOUD_LOCATION', 'location'], undefined, texts),
  loadBalancer: row(['--loadbalancer', 'HCLOUD_LOAD_BALANCER', 'loadbalancer'], none, {
    one: 'assign:///?probe=off',
    other: 'empty://',
  }),
  fipLabel: row(['--fip-label', 'HCLOUD_FIP_LABEL', 'fipLabel'], undefined, { one: 'k8s=cp', other: 'k8s' }),
  apiServerPort: row(['--api-server-port', 'HCLOUD_API_SERVER_PORT', 'apiServerPort'], 0, numbers),
  fipHealthCheckUseHostIp: row(
    ['--fip-health-check-use-host-ip', 'HCLOUD_FIP_HEALTH_CHECK_USE_HOST_IP', 'fipHealthCheckUseHostIP'],
    false,
    switches,
  ),
}

/** The names that its former program had are those of that program. */
export const phoenixnapContract = {
  clientId: row(['--client-id', 'PNAP_CLIENT_ID', 'clientID'], required, texts),
  apiKey: row([undefined, 'PNAP_CLIENT_SECRET', 'clientSecret'], required, texts),
  baseUrl: row(['--base-url', undefined, 'base-url'], 'https://api.phoenixnap.com', urls),
  authUrl: row(['--auth-url', 'PNAP_AUTH_URL', 'authURL'], 'https://auth.phoenixnap.com', urls),
  location: row(['--location', 'PNAP_LOCATION', 'location'], required, texts),
  loadBalancer: row(['--loadbalancer', 'PNAP_LOAD_BALANCER', 'loadbalancer'], none, announcers),
  peerRefreshMs: row(['--peer-refresh-interval', 'EIP_PEER_REFRESH_INTERVAL', undefined], 300_000, {
    one: '10s',
    other: '1m',
  }),
  createPeerGroup: row(['--create-peer-group', 'PNAP_CREATE_PEER_GROUP', 'createPeerGroup'], false, switches),
  localAsn: row(['--local-asn', 'PNAP_LOCAL_ASN', 'localASN'], undefined, numbers),
  peerAsn: row(['--peer-asn', 'PNAP_PEER_ASN', 'peerASN'], 65_400, numbers),
  bgpPass: row([undefined, 'PNAP_BGP_PASS', 'bgpPass'], undefined, texts),
  bgpNodeSelector: row(['--bgp-node-selector', 'PNAP_BGP_NODE_SELECTOR', 'bgpNodeSelector'], undefined, texts),
  annotationLocalAsn: row(
    ['--annotation-local-asn', 'PNAP_ANNOTATION_LOCAL_ASN', 'annotationLocalASN'],
    'phoenixnap.com/bgp-peers-{{n}}-node-asn',
    annotations,
  ),
  annotationPeerAsn: row(
    ['--annotation-peer-asn', 'PNAP_ANNOTATION_PEER_ASN', 'annotationPeerASN'],
    'phoenixnap.com/bgp-peers-{{n}}-peer-asn',
    annotations,
  ),
  annotationPeerIp: row(
    ['--annotation-peer-ip', 'PNAP_ANNOTATION_PEER_IP', 'annotationPeerIP'],
    'phoenixnap.com/bgp-peers-{{n}}-peer-ip',
    annotations,
  ),
  annotationSrcIp: row(
    ['--annotation-src-ip', 'PNAP_ANNOTATION_SRC_IP', 'annotationSrcIP'],
    'phoenixnap.com/bgp-peers-{{n}}-src-ip',
    annotations,
  ),
  annotationMultiHop: row(
    ['--annotation-multi-hop', 'PNAP_ANNOTATION_MULTI_HOP', 'annotationMultiHop'],
    'phoenixnap.com/bgp-peers-{{n}}-peer-multi-hop',
    annotations,
  ),
  annotationBgpPass: row(
    ['--annotation-bgp-pass', 'PNAP_ANNOTATION_BGP_PASS', 'annotationBGPPass'],
    'phoenixnap.com/bgp-peers-{{n}}-bgp-pass',
    annotations,
  ),
}
