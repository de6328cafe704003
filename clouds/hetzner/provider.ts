import { placesOf } from '../../settings/setting.ts'
import { oneOf } from '../../lib/text.ts'
import { serviceAnnotationNames } from '../dialect/annotations.ts'
import { makeBgp } from '../dialect/bgp.ts'
import { type SettingsOf, withProvider } from '../dialect/define-dialect.ts'
import { makePolicy } from '../dialect/policy.ts'
import { type CloudTools, cloudPorts, cloudTimeouts, controlPlaneOf } from '../dialect/provider-parts.ts'
import type { CloudProvider } from '../ports/cloud-provider.ts'
import { hetzner } from './client.ts'
import { hetznerCloud, locationAnnotation } from './settings.ts'

const { marks, announcerMarks, controlPlaneService } = hetznerCloud.names

/** Hetzner Cloud: floating IPs that are assigned to servers. */
function makeProvider(
  settings: SettingsOf<typeof hetznerCloud>,
  { userAgent, proxy, observe }: CloudTools,
): CloudProvider {
  const { apiKey, baseUrl, location, loadBalancer, fipLabel, apiServerPort, fipHealthCheckUseHostIp } = settings
  return {
    ...cloudPorts(hetzner({ apiKey, baseUrl, userAgent, proxy, observe, ...cloudTimeouts(settings) })),
    // No floating IP reaches Robot servers, whose providerIDs Hetzner's program writes.
    providerIds: { scheme: 'hcloud', older: [], neighbours: /^(hrobot:\/\/|hcloud:\/\/bm-)/, id: /^[1-9][0-9]*$/ },
    bgp: makeBgp(loadBalancer, { project: { asn: undefined, password: undefined }, names: {} }),
    project: { id: 'hetzner', setting: oneOf(placesOf(hetznerCloud.rows.apiKey)), isOfToken: true },
    marks,
    loadBalancer,
    announcerMarks,
    controlPlane: controlPlaneOf({ tag: fipLabel, port: apiServerPort, byHostAddress: fipHealthCheckUseHostIp }),
    unsupported: [],
    policy: makePolicy(settings, {
      loadBalancer,
      controlPlaneService,
      families: ['ipv4', 'ipv6'],
      annotations: serviceAnnotationNames(hetznerCloud, settings),
      locationSettings: [{ kind: 'setting', word: 'location', name: 'HCLOUD_LOCATION', value: location }],
      locationAnnotations: [{ kind: 'annotation', word: 'location', name: locationAnnotation.name }],
    }),
  }
}

/** Everything of Hetzner Cloud that other rooms may know. */
export const hetznerDialect = withProvider(hetznerCloud, makeProvider)
