import { loadBalancer } from '../../announcers/load-balancer-setting.ts'
import { boolean, number, text, token, url } from '../../settings/formats.ts'
import type { SettingsTable } from '../../settings/setting.ts'
import { defineDialect } from '../dialect/define-dialect.ts'

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
  baseUrl: {
    title: 'API base URL',
    flag: '--base-url',
    env: 'SCW_API_URL',
    field: 'apiURL',
    format: url('loopback'),
    default: 'https://api.scaleway.com',
    sentence: 'URL of the API. Plain http is allowed only to a loopback address.',
  },
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
  loadBalancer: {
    title: 'load balancer',
    flag: '--loadbalancer',
    env: 'SCW_LOAD_BALANCER',
    field: 'loadbalancer',
    format: loadBalancer({ namespaceAlone: 'crd', offers: ['assignment'] }),
    default: 'none',
    sentence:
      'How traffic reaches the nodes: assign:/// or empty://. With none, there is no load balancing. The cloud has no BGP.',
  },
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
  apiServerPort: {
    title: 'control-plane port',
    flag: '--api-server-port',
    env: 'SCW_API_SERVER_PORT',
    field: 'apiServerPort',
    format: number(0, 65_535),
    default: '0',
    sentence: "Port at the control-plane address, for users and probes of it. 0 means the API server's own port.",
  },
  fipHealthCheckUseHostIp: {
    title: 'control-plane probe by host address',
    flag: '--fip-health-check-use-host-ip',
    env: 'SCW_FIP_HEALTH_CHECK_USE_HOST_IP',
    field: 'fipHealthCheckUseHostIP',
    format: boolean,
    default: 'false',
    sentence:
      'Probes the API servers only by their own addresses. Otherwise the control-plane address itself is probed too, where it leads away from the machine that probes.',
  },
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
