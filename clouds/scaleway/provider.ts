import { placesText } from '../../settings/setting.ts'
import { withProvider } from '../dialect/with-provider.ts'
import { scaleway } from './client.ts'
import { scalewayMetal } from './settings.ts'

/** Each zone has its own list: in another one, none of our addresses exist. */
const projectSetting = [scalewayMetal.rows.projectId, scalewayMetal.rows.zone].map(placesText).join(' and ')

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Elastic Metal of Scaleway: flexible IPs that are attached to servers of their zone. */
export const scalewayDialect = withProvider(scalewayMetal, (settings, { tuning }) => {
  const { apiKey, projectId, baseUrl, zone, fipTag, apiServerPort, fipHealthCheckUseHostIp } = settings
  return {
    client: scaleway({ apiKey, projectId, zone, baseUrl, ...tuning }),
    // The form that the vendor's cloud controller manager writes. It uses another path for Instances and for other zones.
    providerIds: { scheme: 'scaleway', older: [], path: `baremetal/${zone}/`, id: uuid },
    project: { id: `${projectId}/${zone}`, setting: projectSetting, formerId: projectId },
    controlPlane: { tag: fipTag, port: apiServerPort, byHostAddress: fipHealthCheckUseHostIp },
    policy: {
      families: ['ipv4', 'ipv6'],
      locationSettings: [{ kind: 'setting', word: 'zone', name: 'SCW_DEFAULT_ZONE', value: zone }],
    },
  }
})
