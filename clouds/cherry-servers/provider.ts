import { placesText } from '../../settings/setting.ts'
import { withProvider } from '../dialect/with-provider.ts'
import { cherryServers } from './client.ts'
import { cherryServers as dialect, managedAnnotation } from './settings.ts'

/** Cherry Servers in the dialect of its cloud controller managers. */
export const cherryServersDialect = withProvider(dialect, (settings, { tuning }) => {
  const { apiKey, projectId, baseUrl, region, fipTag, apiServerPort, fipHealthCheckUseHostIp } = settings
  return {
    client: cherryServers({ apiKey, projectId, baseUrl, ...tuning }),
    providerIds: { scheme: 'cherryservers', older: [], id: /^[1-9][0-9]*$/ },
    // The provider chooses the ASN, and its routers use no password.
    bgp: { selector: settings.bgpNodeSelector },
    project: { id: projectId, setting: placesText(dialect.rows.projectId) },
    controlPlane: { tag: fipTag, port: apiServerPort, byHostAddress: fipHealthCheckUseHostIp },
    policy: {
      managedAnnotation: managedAnnotation.name,
      locationSettings: [{ kind: 'setting', word: 'region', name: 'CHERRY_REGION_NAME', value: region }],
      locationAnnotations: [{ kind: 'annotation', word: 'region', name: settings.annotationFipRegion }],
    },
  }
})
