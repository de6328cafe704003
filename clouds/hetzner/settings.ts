import type { Annotation } from '../../lib/annotation.ts'
import { loadBalancer } from '../../announcers/load-balancer-setting.ts'
import { boolean, number, text, token, url } from '../../settings/formats.ts'
import type { SettingsTable } from '../../settings/setting.ts'
import { serviceLocation } from '../dialect/annotations.ts'
import { defineDialect } from '../dialect/define-dialect.ts'

/** The annotation by which a Service requests a location. */
export const locationAnnotation: Annotation = {
  name: 'eip-admission.dev/location',
  ...serviceLocation('the name, city or id of a location', 'the location setting'),
}

const access = {
  apiKey: {
    title: 'API token',
    env: 'HCLOUD_TOKEN',
    field: 'token',
    format: token,
    required: true,
    // Another token may be another project's, which no answer of the API names: the ledger is compared at the start.
    sentence: 'Token for the API of Hetzner Cloud, with the right to read and write. It belongs to one project.',
  },
  baseUrl: {
    title: 'API base URL',
    flag: '--base-url',
    env: 'HCLOUD_ENDPOINT',
    field: 'endpoint',
    format: url('loopback'),
    default: 'https://api.hetzner.cloud/v1',
    sentence: 'URL of the API. Plain http is allowed only to a loopback address.',
  },
} as const satisfies SettingsTable

const addresses = {
  location: {
    title: 'location',
    flag: '--location',
    env: 'HCLOUD_LOCATION',
    field: 'location',
    format: text('name'),
    unset: "the Service's annotation",
    sentence: 'Home location of new addresses: its name, city or id. Servers of other locations can have them too.',
    isReloaded: true,
  },
  loadBalancer: {
    title: 'load balancer',
    flag: '--loadbalancer',
    env: 'HCLOUD_LOAD_BALANCER',
    field: 'loadbalancer',
    format: loadBalancer({ namespaceAlone: 'crd', offers: ['assignment'] }),
    default: 'none',
    sentence:
      'How traffic reaches the nodes: assign:/// or empty://. With none, there is no load balancing. The cloud has no BGP.',
  },
} as const satisfies SettingsTable

const controlPlane = {
  fipLabel: {
    title: 'control-plane address label',
    flag: '--fip-label',
    env: 'HCLOUD_FIP_LABEL',
    field: 'fipLabel',
    format: text('key=value'),
    unset: 'off',
    sentence:
      'Label of the floating IP that is the control-plane address. It is moved when its holder fails, and never ordered or deleted.',
  },
  apiServerPort: {
    title: 'control-plane port',
    flag: '--api-server-port',
    env: 'HCLOUD_API_SERVER_PORT',
    field: 'apiServerPort',
    format: number(0, 65_535),
    default: '0',
    sentence: "Port at the control-plane address, for users and probes of it. 0 means the API server's own port.",
  },
  fipHealthCheckUseHostIp: {
    title: 'control-plane probe by host address',
    flag: '--fip-health-check-use-host-ip',
    env: 'HCLOUD_FIP_HEALTH_CHECK_USE_HOST_IP',
    field: 'fipHealthCheckUseHostIP',
    format: boolean,
    default: 'false',
    sentence:
      'Probes the API servers only by their own addresses. Otherwise the control-plane address itself is probed too, where it leads away from the machine that probes.',
  },
} as const satisfies SettingsTable

/** The settings for Hetzner Cloud. No program with them was there before. */
export const hetznerCloud = defineDialect({
  name: 'hetzner',
  title: 'Hetzner Cloud',
  providers: ['hetzner', 'hcloud'],
  envPrefix: 'HCLOUD_',
  predecessors: [],
  names: {
    marks: { usage: 'eip-admission', separator: '/' },
    announcerMarks: {
      label: { name: 'app.kubernetes.io/managed-by', value: 'eip-admission' },
      advertisement: 'eip-admission',
      counting: 'nomatch.hetzner.com',
    },
    controlPlaneService: 'kube-system/eip-admission-kubernetes-external',
  },
  rows: { ...access, ...addresses, ...controlPlane },
  annotations: [locationAnnotation],
})
