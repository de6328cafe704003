import { cherryServers } from '../../clouds/cherry-servers.ts'
import { bgpOf } from '../bgp.ts'
import type { SettingsOf } from '../settings/dialects.ts'
import { type CloudProvider, type CloudTools, missingOf, portsOf, timeoutsOf } from './cloud-provider.ts'
import { policyOf } from './policy.ts'

type Settings = SettingsOf<'cherry-servers'>

/** Cherry Servers, as its cloud controller managers speak of it. */
export function cherryServersProvider(settings: Settings, { userAgent, observe }: CloudTools): CloudProvider {
  const { apiKey, projectId, baseUrl, region, annotationFipRegion, loadBalancer } = settings
  return {
    ...portsOf(cherryServers({ apiKey, projectId, baseUrl, userAgent, observe, ...timeoutsOf(settings) })),
    providerIds: { scheme: 'cherryservers', older: [], id: /^[1-9][0-9]*$/ },
    bgp: bgpIn(settings),
    project: projectId,
    marks: { usage: 'cloud-provider-cherry-auto', separator: '/' },
    loadBalancer,
    // The predecessor took these two over from Equinix Metal's, and clusters have objects that are called so.
    announcerMarks: {
      label: { name: 'cloud-provider', value: 'equinix-metal' },
      advertisement: 'equinix-metal-bgp-adv',
      counting: 'nomatch.cherryservers.com',
    },
    missing: missingOf([settings.fipTag]),
    policy: policyOf(settings, {
      loadBalancer,
      controlPlaneService: 'kube-system/cloud-provider-cherry-kubernetes-external',
      // The last one is where the predecessor writes an address that nobody announces.
      annotations: { known: [annotationFipRegion, 'cherryservers.com/loadBalancerIPs'], prefix: 'cherryservers.com/' },
      managed: 'cherryservers.com/loadbalancer-managed',
      places: {
        ofCluster: [{ kind: 'setting', word: 'region', name: 'CHERRY_REGION_NAME', value: region }],
        ofService: [{ kind: 'annotation', word: 'region', name: annotationFipRegion }],
      },
    }),
  }
}

function bgpIn(settings: Settings): CloudProvider['bgp'] {
  return bgpOf(settings.loadBalancer, {
    // The cloud chooses the ASN, and its routers ask for no password.
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
