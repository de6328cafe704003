import { text, token } from '../../settings/formats.ts'
import type { SettingsTable } from '../../settings/setting.ts'
import { defineDialect, ownNames } from '../dialect/define-dialect.ts'
import {
  apiServerPort,
  baseUrl,
  controlPlaneTag,
  healthCheckUseHostIp,
  loadBalancerChoice,
  projectId,
} from '../dialect/shared-settings.ts'

const access = {
  apiKey: {
    title: 'secret key',
    env: 'SCW_SECRET_KEY',
    field: 'secretKey',
    format: token,
    required: true,
    sentence: 'Secret key of an API key that may manage Elastic Metal and its flexible IPs in the project.',
    isReloaded: true,
  },
  projectId: projectId('SCW_DEFAULT_'),
  baseUrl: { ...baseUrl('https://api.scaleway.com'), env: 'SCW_API_URL', field: 'apiURL' },
} as const satisfies SettingsTable

const addresses = {
  zone: {
    flag: '--zone',
    env: 'SCW_DEFAULT_ZONE',
    field: 'zone',
    format: text('name'),
    required: true,
    sentence: 'Zone of the addresses and of the servers that may have them. A flexible IP never leaves its zone.',
  },
  loadBalancer: loadBalancerChoice('SCW_LOAD_BALANCER', { namespaceAlone: 'crd', offers: ['assignment'] }),
} as const satisfies SettingsTable

const controlPlane = {
  fipTag: controlPlaneTag('SCW_', { address: 'fip', placeholder: 'tag', of: 'flexible IP that is' }),
  apiServerPort: apiServerPort('SCW_'),
  fipHealthCheckUseHostIp: healthCheckUseHostIp('SCW_', 'fip'),
} as const satisfies SettingsTable

/** The settings for Elastic Metal of Scaleway. They replace no earlier program's. */
export const scalewayMetal = defineDialect({
  name: 'scaleway',
  title: 'Scaleway',
  providers: ['scaleway'],
  envPrefix: 'SCW_',
  predecessors: [],
  names: ownNames('scaleway.com'),
  rows: { ...access, ...addresses, ...controlPlane },
  annotations: [],
})
