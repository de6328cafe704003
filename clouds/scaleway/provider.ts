import { placesOf } from '../../settings/setting.ts'
import { oneOf } from '../../lib/text.ts'
import { serviceAnnotationNames } from '../dialect/annotations.ts'
import { makeBgp } from '../dialect/bgp.ts'
import { type SettingsOf, withProvider } from '../dialect/define-dialect.ts'
import { makePolicy } from '../dialect/policy.ts'
import { type CloudTools, cloudPorts, cloudTimeouts, controlPlaneOf } from '../dialect/provider-parts.ts'
import type { CloudProvider } from '../ports/cloud-provider.ts'
import { scaleway } from './client.ts'
import { scalewayMetal } from './settings.ts'

const { marks, announcerMarks, controlPlaneService } = scalewayMetal.names

/** Each zone has a list of its own: in another one none of our addresses exists. */
const projectSetting = [scalewayMetal.rows.projectId, scalewayMetal.rows.zone]
  .map((row) => oneOf(placesOf(row)))
  .join(' and ')

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Elastic Metal of Scaleway: flexible IPs that are attached to servers of their zone. */
function makeProvider(
  settings: SettingsOf<typeof scalewayMetal>,
  { userAgent, proxy, observe }: CloudTools,
): CloudProvider {
  const { apiKey, projectId, baseUrl, zone, loadBalancer, fipTag, apiServerPort, fipHealthCheckUseHostIp } = settings
  const tuning = { userAgent, proxy, observe, ...cloudTimeouts(settings) }
  return {
    ...cloudPorts(scaleway({ apiKey, projectId, zone, baseUrl, ...tuning })),
    // As the vendor's cloud controller manager writes them. It has other paths for Instances, and other zones.
    providerIds: { scheme: 'scaleway', older: [], path: `baremetal/${zone}/`, id: uuid },
    bgp: makeBgp(loadBalancer, { project: { asn: undefined, password: undefined }, names: {} }),
    project: { id: `${projectId}/${zone}`, setting: projectSetting, formerId: projectId },
    marks,
    loadBalancer,
    announcerMarks,
    controlPlane: controlPlaneOf({ tag: fipTag, port: apiServerPort, byHostAddress: fipHealthCheckUseHostIp }),
    unsupported: [],
    policy: makePolicy(settings, {
      loadBalancer,
      controlPlaneService,
      families: ['ipv4', 'ipv6'],
      annotations: serviceAnnotationNames(scalewayMetal, settings),
      locationSettings: [{ kind: 'setting', word: 'zone', name: 'SCW_DEFAULT_ZONE', value: zone }],
      locationAnnotations: [],
    }),
  }
}

/** Everything of Scaleway that other rooms may know. */
export const scalewayDialect = withProvider(scalewayMetal, makeProvider)
