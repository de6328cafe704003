import { placesOf } from '../../settings/setting.ts'
import { oneOf } from '../../lib/text.ts'
import { serviceAnnotationNames } from '../dialect/annotations.ts'
import { makeBgp } from '../dialect/bgp.ts'
import { type SettingsOf, withProvider } from '../dialect/define-dialect.ts'
import { makePolicy } from '../dialect/policy.ts'
import { type CloudTools, cloudPorts, cloudTimeouts } from '../dialect/provider-parts.ts'
import type { CloudProvider } from '../ports/cloud-provider.ts'
import { phoenixnap } from './client.ts'
import { phoenixnapMetal } from './settings.ts'

type Settings = SettingsOf<typeof phoenixnapMetal>

const { marks, announcerMarks, controlPlaneService } = phoenixnapMetal.names

/** phoenixNAP's Bare Metal Cloud: blocks of two addresses, of which the servers of their location announce one. */
function makeProvider(settings: Settings, { userAgent, proxy, observe }: CloudTools): CloudProvider {
  const { clientId, apiKey, baseUrl, authUrl, location, loadBalancer, peerAsn, createPeerGroup } = settings
  const access = { clientId, apiKey, baseUrl, authUrl, location, peerAsn, createsPeerGroup: createPeerGroup }
  return {
    ...cloudPorts(phoenixnap({ ...access, userAgent, proxy, observe, ...cloudTimeouts(settings) })),
    providerIds: { scheme: 'phoenixnap', older: [], id: /^[0-9a-f]{24}$/ },
    bgp: dialectBgp(settings),
    project: { id: 'phoenixnap', setting: oneOf(placesOf(phoenixnapMetal.rows.clientId)), isOfToken: true },
    marks,
    loadBalancer,
    announcerMarks,
    // No call moves an address from one server to another.
    controlPlane: undefined,
    unsupported: [],
    policy: makePolicy(settings, {
      loadBalancer,
      controlPlaneService,
      annotations: serviceAnnotationNames(phoenixnapMetal, settings),
      locationSettings: [{ kind: 'setting', word: 'location', name: 'PNAP_LOCATION', value: location }],
      locationAnnotations: [],
    }),
  }
}

/** Everything of phoenixNAP that other rooms may know. */
export const phoenixnapDialect = withProvider(phoenixnapMetal, makeProvider)

function dialectBgp(settings: Settings): CloudProvider['bgp'] {
  return makeBgp(settings.loadBalancer, {
    project: { asn: settings.localAsn, password: settings.bgpPass },
    selector: settings.bgpNodeSelector,
    names: {
      localAsn: settings.annotationLocalAsn,
      peerAsn: settings.annotationPeerAsn,
      peerAddress: settings.annotationPeerIp,
      sourceAddress: settings.annotationSrcIp,
      multihop: settings.annotationMultiHop,
      password: settings.annotationBgpPass,
    },
  })
}
