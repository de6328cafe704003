import { common } from '../../settings/common.ts'
import { asn, boolean, password, text, token, url } from '../../settings/formats.ts'
import type { SettingsTable } from '../../settings/setting.ts'
import { nodeAnnotationName, peerAnnotationNames } from '../dialect/annotations.ts'
import { defineDialect, ownNames } from '../dialect/define-dialect.ts'
import { baseUrl, bgpNodeSelector, loadBalancerChoice } from '../dialect/shared-settings.ts'

const access = {
  clientId: {
    flag: '--client-id',
    env: 'PNAP_CLIENT_ID',
    field: 'clientID',
    format: text('id'),
    required: true,
    // Another client may belong to another account, which no answer of the API names. So the ledger is compared at startup.
    sentence: 'Id of a client of the Bare Metal Cloud. It belongs to one account.',
  },
  apiKey: {
    title: 'client secret',
    env: 'PNAP_CLIENT_SECRET',
    field: 'clientSecret',
    format: token,
    required: true,
    sentence: 'Secret of the client, which has the scopes `bmc`, `bmc.read`, `tags` and `tags.read`.',
    isReloaded: true,
  },
  baseUrl: baseUrl('https://api.phoenixnap.com'),
  authUrl: {
    title: 'token URL',
    flag: '--auth-url',
    env: 'PNAP_AUTH_URL',
    field: 'authURL',
    format: url('loopback'),
    default: 'https://auth.phoenixnap.com',
    sentence: 'URL at which the client gets its tokens. Plain http is allowed only to a loopback address.',
  },
} as const satisfies SettingsTable

const addresses = {
  location: {
    flag: '--location',
    env: 'PNAP_LOCATION',
    field: 'location',
    format: text('code'),
    required: true,
    sentence: 'Location of the addresses and of the servers that announce them.',
  },
  loadBalancer: loadBalancerChoice('PNAP_LOAD_BALANCER', { namespaceAlone: 'crd', offers: ['bgp'] }),
} as const satisfies SettingsTable

const bgp = {
  // People change a peer group in the portal. Two lists show all servers, so a shorter interval costs little.
  peerRefreshMs: { ...common.peerRefreshMs, default: '5m' },
  createPeerGroup: {
    title: 'creation of the peer group',
    flag: '--create-peer-group',
    env: 'PNAP_CREATE_PEER_GROUP',
    field: 'createPeerGroup',
    format: boolean,
    default: 'false',
    sentence:
      'Creates the BGP peer group of the location if there is none. It belongs to the whole account. Without this setting, create it in the portal.',
  },
  localAsn: {
    title: 'local ASN',
    flag: '--local-asn',
    env: 'PNAP_LOCAL_ASN',
    field: 'localASN',
    format: asn,
    unset: '65401',
    sentence: 'ASN of a peer group that eip-admission creates. One that exists keeps its own.',
  },
  peerAsn: {
    title: 'peer ASN',
    flag: '--peer-asn',
    env: 'PNAP_PEER_ASN',
    field: 'peerASN',
    format: asn,
    default: '65400',
    sentence: 'ASN of the routers of phoenixNAP, which its API does not show.',
  },
  bgpPass: {
    title: 'BGP password',
    env: 'PNAP_BGP_PASS',
    field: 'bgpPass',
    format: password,
    unset: 'one that phoenixNAP makes',
    sentence: 'Password of a peer group that eip-admission creates. One that exists keeps its own.',
  },
  bgpNodeSelector: bgpNodeSelector('PNAP_'),
  ...peerAnnotationNames('PNAP_', 'phoenixnap.com'),
  annotationMultiHop: nodeAnnotationName('PNAP_', 'multihop', 'phoenixnap.com/bgp-peers-{{n}}-peer-multi-hop'),
  annotationBgpPass: nodeAnnotationName('PNAP_', 'password', 'phoenixnap.com/bgp-peers-{{n}}-bgp-pass'),
} as const satisfies SettingsTable

/** The settings for phoenixNAP. They share their names with the vendor's earlier program, whose addresses are not adopted. */
export const phoenixnapMetal = defineDialect({
  name: 'phoenixnap',
  title: 'phoenixNAP',
  providers: ['phoenixnap'],
  envPrefix: 'PNAP_',
  predecessors: [],
  names: ownNames('phoenixnap.com'),
  rows: { ...access, ...addresses, ...bgp },
  annotations: [],
})
