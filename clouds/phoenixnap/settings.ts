import { text, token, url } from '../../settings/formats.ts'
import type { SettingsTable } from '../../settings/setting.ts'
import { defineDialect, ownNames } from '../dialect/define-dialect.ts'
import { baseUrl, loadBalancerChoice } from '../dialect/shared-settings.ts'
import { bgp } from './bgp-settings.ts'

const access = {
  clientId: {
    title: 'client id',
    flag: '--client-id',
    env: 'PNAP_CLIENT_ID',
    field: 'clientID',
    format: text('id'),
    required: true,
    // Another client may be another account's, which no answer of the API names: the ledger is compared at the start.
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
    title: 'location',
    flag: '--location',
    env: 'PNAP_LOCATION',
    field: 'location',
    format: text('code'),
    required: true,
    sentence: 'Location of the addresses and of the servers that announce them.',
  },
  loadBalancer: loadBalancerChoice('PNAP_LOAD_BALANCER', { namespaceAlone: 'crd', offers: ['bgp'] }),
} as const satisfies SettingsTable

/** The settings for phoenixNAP. The names of the vendor's earlier program were the same; its addresses are not taken over. */
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
