import { placesText } from '../../settings/setting.ts'
import { withProvider } from '../dialect/with-provider.ts'
import { hetzner } from './client.ts'
import { hetznerCloud, locationAnnotation } from './settings.ts'

/** Hetzner Cloud: floating IPs that are assigned to servers. */
export const hetznerDialect = withProvider(hetznerCloud, (settings, { tuning }) => {
  const { apiKey, baseUrl, location, fipLabel, apiServerPort, fipHealthCheckUseHostIp } = settings
  return {
    client: hetzner({ apiKey, baseUrl, ...tuning }),
    // Floating IPs cannot reach Robot servers, whose providerIDs Hetzner's own program writes.
    providerIds: { scheme: 'hcloud', older: [], neighbours: /^(hrobot:\/\/|hcloud:\/\/bm-)/, id: /^[1-9][0-9]*$/ },
    project: { id: 'hetzner', setting: placesText(hetznerCloud.rows.apiKey), isOfToken: true },
    controlPlane: { tag: fipLabel, port: apiServerPort, byHostAddress: fipHealthCheckUseHostIp },
    policy: {
      families: ['ipv4', 'ipv6'],
      locationSettings: [{ kind: 'setting', word: 'location', name: 'HCLOUD_LOCATION', value: location }],
      locationAnnotations: [{ kind: 'annotation', word: 'location', name: locationAnnotation.name }],
    },
  }
})
