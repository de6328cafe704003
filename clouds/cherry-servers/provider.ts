import { cherryServers } from './client.ts'
import { makeBgp } from '../dialect/bgp.ts'
import { type SettingsOf, withProvider } from '../dialect/define-dialect.ts'
import { serviceAnnotationNames } from '../dialect/annotations.ts'
import { cherryServers as dialect, managedAnnotation } from './settings.ts'
import { type CloudTools, cloudPorts, cloudTimeouts, controlPlaneOf } from '../dialect/provider-parts.ts'
import { placesOf } from '../../settings/setting.ts'
import { oneOf } from '../../lib/text.ts'
import { makePolicy } from '../dialect/policy.ts'
import type { CloudProvider } from '../ports/cloud-provider.ts'

type Settings = SettingsOf<typeof dialect>

const { marks, announcerMarks, controlPlaneService } = dialect.names

/** Cherry Servers in the dialect of its cloud controller managers. */
function makeProvider(settings: Settings, { userAgent, proxy, observe }: CloudTools): CloudProvider {
  const { apiKey, projectId, baseUrl, region, annotationFipRegion, loadBalancer } = settings
  return {
    ...cloudPorts(cherryServers({ apiKey, projectId, baseUrl, userAgent, proxy, observe, ...cloudTimeouts(settings) })),
    providerIds: { scheme: 'cherryservers', older: [], id: /^[1-9][0-9]*$/ },
    bgp: dialectBgp(settings),
    project: { id: projectId, setting: oneOf(placesOf(dialect.rows.projectId)) },
    marks,
    loadBalancer,
    announcerMarks,
    controlPlane: controlPlaneOf({
      tag: settings.fipTag,
      port: settings.apiServerPort,
      byHostAddress: settings.fipHealthCheckUseHostIp,
    }),
    unsupported: [],
    policy: makePolicy(settings, {
      loadBalancer,
      controlPlaneService,
      annotations: serviceAnnotationNames(dialect, settings),
      annotationPrefix: dialect.annotationPrefix,
      managedAnnotation: managedAnnotation.name,
      locationSettings: [{ kind: 'setting', word: 'region', name: 'CHERRY_REGION_NAME', value: region }],
      locationAnnotations: [{ kind: 'annotation', word: 'region', name: annotationFipRegion }],
    }),
  }
}

/** Everything of Cherry Servers that other rooms may know. */
export const cherryServersDialect = withProvider(dialect, makeProvider)

function dialectBgp(settings: Settings): CloudProvider['bgp'] {
  return makeBgp(settings.loadBalancer, {
    // The cloud chooses the ASN, and its routers use no password.
    project: { asn: undefined, password: undefined },
    selector: settings.bgpNodeSelector,
    names: {
      localAsn: settings.annotationLocalAsn,
      peerAsn: settings.annotationPeerAsn,
      peerAddress: settings.annotationPeerIp,
      sourceAddress: settings.annotationSrcIp,
      multihop: settings.annotationMultiHop,
      privateNetwork: settings.annotationNetworkIpv4Private,
    },
  })
}
