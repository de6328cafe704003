import { equinixMetal } from '../../clouds/equinix-metal.ts'
import { bgpOf } from '../bgp.ts'
import type { SettingsOf } from '../settings/dialects.ts'
import { type CloudProvider, type CloudTools, missingOf, portsOf, timeoutsOf } from './cloud-provider.ts'
import { machineId, maxPrefixes } from './metal.ts'
import { policyOf } from './policy.ts'

type Settings = SettingsOf<'equinix-metal'>

/** What the predecessor called its annotations of nodes before its version 3.3. */
const outdated = ['node-asn', 'peer-asn', 'peer-ip', 'src-ip', 'bgp-pass'].map((name) => `metal.equinix.com/${name}`)

/** Equinix Metal, as its cloud controller manager of version 3 spoke of it. */
export function equinixMetalProvider(settings: Settings, { userAgent, observe }: CloudTools): CloudProvider {
  const { apiKey, projectId, baseUrl, loadBalancer } = settings
  return {
    ...portsOf(equinixMetal({ apiKey, projectId, baseUrl, userAgent, observe, ...timeoutsOf(settings) })),
    providerIds: { scheme: 'equinixmetal', older: ['packet'], id: machineId },
    bgp: bgpIn(settings),
    project: projectId,
    marks: { usage: 'cloud-provider-equinix-metal-auto', separator: '/' },
    loadBalancer,
    announcerMarks: {
      label: { name: 'cloud-provider', value: 'equinix-metal' },
      advertisement: 'equinix-metal-bgp-adv',
      counting: 'nomatch.metal.equinix.com',
    },
    missing: missingOf([settings.eipTag, settings.loadBalancerId]),
    policy: policyOf(settings, {
      loadBalancer,
      controlPlaneService: 'kube-system/cloud-provider-equinix-metal-kubernetes-external',
      annotations: {
        known: [settings.annotationEipFacility, settings.annotationEipMetro],
        prefix: 'metal.equinix.com/',
      },
      places: placesIn(settings),
    }),
  }
}

function placesIn(settings: Settings): Parameters<typeof policyOf>[1]['places'] {
  return {
    ofCluster: [
      { kind: 'setting', word: 'facility', name: 'METAL_FACILITY_NAME', value: settings.facility },
      { kind: 'setting', word: 'metro', name: 'METAL_METRO_NAME', value: settings.metro },
    ],
    ofService: [
      { kind: 'annotation', word: 'facility', name: settings.annotationEipFacility },
      { kind: 'annotation', word: 'metro', name: settings.annotationEipMetro },
    ],
  }
}

function bgpIn(settings: Settings): CloudProvider['bgp'] {
  return bgpOf(settings.loadBalancer, {
    project: { asn: settings.localAsn, password: settings.bgpPass },
    selector: settings.bgpNodeSelector,
    maxPrefixes,
    names: {
      localAsn: settings.annotationLocalAsn,
      peerAsn: settings.annotationPeerAsn,
      peerAddress: settings.annotationPeerIp,
      sourceAddress: settings.annotationSrcIp,
      password: settings.annotationBgpPass,
      privateNetwork: settings.annotationNetworkIpv4Private,
    },
    outdated,
  })
}
