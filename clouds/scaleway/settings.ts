import { text, token } from '../../settings/formats.ts'
import type { SettingsTable } from '../../settings/setting.ts'
import { defineDialect } from '../dialect/define-dialect.ts'
import { apiServerPort, baseUrl, healthCheckUseHostIp, loadBalancerChoice } from '../dialect/shared-settings.ts'

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
  projectId: {
    title: 'project',
    flag: '--project-id',
    env: 'SCW_DEFAULT_PROJECT_ID',
    field: 'projectID',
    format: text('id'),
    required: true,
    sentence: 'Id of the project that pays for the addresses and owns the servers.',
  },
  baseUrl: { ...baseUrl('https://api.scaleway.com'), env: 'SCW_API_URL', field: 'apiURL' },
} as const satisfies SettingsTable

const addresses = {
  zone: {
    title: 'zone',
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
  fipTag: {
    title: 'control-plane address tag',
    flag: '--fip-tag',
    env: 'SCW_FIP_TAG',
    field: 'fipTag',
    format: text('tag'),
    unset: 'off',
    sentence:
      'Tag of the flexible IP that is the control-plane address. It is moved when its holder fails, and never ordered or deleted.',
  },
  apiServerPort: apiServerPort('SCW_'),
  fipHealthCheckUseHostIp: healthCheckUseHostIp('SCW_', 'fip'),
} as const satisfies SettingsTable

/** The settings for Elastic Metal of Scaleway. No program with them was there before. */
export const scalewayMetal = defineDialect({
  name: 'scaleway',
  title: 'Scaleway',
  providers: ['scaleway'],
  envPrefix: 'SCW_',
  predecessors: [],
  names: {
    marks: { usage: 'eip-admission', separator: '/' },
    announcerMarks: {
      label: { name: 'app.kubernetes.io/managed-by', value: 'eip-admission' },
      advertisement: 'eip-admission',
      counting: 'nomatch.scaleway.com',
    },
    controlPlaneService: 'kube-system/eip-admission-kubernetes-external',
  },
  rows: { ...access, ...addresses, ...controlPlane },
  annotations: [],
})
