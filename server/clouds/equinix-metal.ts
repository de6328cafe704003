import { equinixMetal } from '../../clouds/equinix-metal.ts'
import { makeBgp } from '../bgp.ts'
import type { SettingsOf } from '../settings/dialects.ts'
import { outdatedNodeAnnotations, serviceAnnotationNames } from '../settings/dialects/annotations.ts'
import { equinixMetal as dialect } from '../settings/dialects/equinix-metal.ts'
import {
  type CloudProvider,
  type CloudTools,
  cloudPorts,
  cloudTimeouts,
  unsupportedFeatures,
} from './cloud-provider.ts'
import { machineId, maxPrefixes } from './metal.ts'
import { type DialectPolicy, makePolicy } from './policy.ts'

type Settings = SettingsOf<'equinix-metal'>

/** Equinix Metal in the dialect of its cloud controller manager, version 3. */
export function equinixMetalProvider(settings: Settings, { userAgent, observe }: CloudTools): CloudProvider {
  const { apiKey, projectId, baseUrl, loadBalancer } = settings
  return {
    ...cloudPorts(equinixMetal({ apiKey, projectId, baseUrl, userAgent, observe, ...cloudTimeouts(settings) })),
    providerIds: { scheme: 'equinixmetal', older: ['packet'], id: machineId },
    bgp: dialectBgp(settings),
    project: projectId,
    marks: { usage: 'cloud-provider-equinix-metal-auto', separator: '/' },
    loadBalancer,
    announcerMarks: {
      label: { name: 'cloud-provider', value: 'equinix-metal' },
      advertisement: 'equinix-metal-bgp-adv',
      counting: 'nomatch.metal.equinix.com',
    },
    unsupported: unsupportedFeatures([settings.eipTag, settings.loadBalancerId], {
      '--api-server-port': settings.apiServerPort !== 0,
      '--eip-health-check-use-host-ip': settings.eipHealthCheckUseHostIp,
    }),
    policy: makePolicy(settings, {
      loadBalancer,
      controlPlaneService: 'kube-system/cloud-provider-equinix-metal-kubernetes-external',
      annotations: serviceAnnotationNames(dialect, settings),
      annotationPrefix: dialect.annotationPrefix,
      ...locationSources(settings),
    }),
  }
}

/** A facility takes precedence over a metro. */
function locationSources(settings: Settings): Pick<DialectPolicy, 'locationSettings' | 'locationAnnotations'> {
  return {
    locationSettings: [
      { kind: 'setting', word: 'facility', name: 'METAL_FACILITY_NAME', value: settings.facility },
      { kind: 'setting', word: 'metro', name: 'METAL_METRO_NAME', value: settings.metro },
    ],
    locationAnnotations: [
      { kind: 'annotation', word: 'facility', name: settings.annotationEipFacility },
      { kind: 'annotation', word: 'metro', name: settings.annotationEipMetro },
    ],
  }
}

function dialectBgp(settings: Settings): CloudProvider['bgp'] {
  return makeBgp(settings.loadBalancer, {
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
    outdated: outdatedNodeAnnotations(dialect),
  })
}
