import type { Annotation } from '../../lib/annotation.ts'
import { text, token } from '../../settings/formats.ts'
import type { SettingsTable } from '../../settings/setting.ts'
import { serviceLocation } from '../dialect/annotations.ts'
import { defineDialect, ownNames } from '../dialect/define-dialect.ts'
import { apiServerPort, baseUrl, healthCheckUseHostIp, loadBalancerChoice } from '../dialect/shared-settings.ts'

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
    // Another token may belong to another project, which no answer of the API names. So the ledger is compared at startup.
    sentence: 'Token for the API of Hetzner Cloud, with the right to read and write. It belongs to one project.',
  },
  baseUrl: { ...baseUrl('https://api.hetzner.cloud/v1'), env: 'HCLOUD_ENDPOINT', field: 'endpoint' },
} as const satisfies SettingsTable

const addresses = {
  location: {
    flag: '--location',
    env: 'HCLOUD_LOCATION',
    field: 'location',
    format: text('name'),
    unset: "the Service's annotation",
    sentence: 'Home location of new addresses: its name, city or id. Servers of other locations can have them too.',
    isReloaded: true,
  },
  loadBalancer: loadBalancerChoice('HCLOUD_LOAD_BALANCER', { namespaceAlone: 'crd', offers: ['assignment'] }),
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
    findsControlPlaneAddress: true,
  },
  apiServerPort: apiServerPort('HCLOUD_'),
  fipHealthCheckUseHostIp: healthCheckUseHostIp('HCLOUD_', 'fip'),
} as const satisfies SettingsTable

/** The settings for Hetzner Cloud. They replace no earlier program's. */
export const hetznerCloud = defineDialect({
  name: 'hetzner',
  title: 'Hetzner Cloud',
  providers: ['hetzner', 'hcloud'],
  envPrefix: 'HCLOUD_',
  predecessors: [],
  names: ownNames('hetzner.com'),
  rows: { ...access, ...addresses, ...controlPlane },
  annotations: [locationAnnotation],
})
