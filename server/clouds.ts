import type { Cloud } from '../clouds/cloud.ts'
import { equinixMetal } from '../clouds/equinix-metal.ts'
import type { Exchange } from '../clouds/http.ts'
import type { LocationSource } from '../ledger/location.ts'
import type { MarkScheme } from '../ledger/marks.ts'
import { ownAnnotations, ownPrefix } from '../ledger/names.ts'
import type { Policy } from '../ledger/want.ts'
import type { CloudSettings } from './settings/dialects.ts'
import type { LoadBalancer } from './settings/load-balancer.ts'

/** A vendor with its dialect: whom to call, and in which words the cluster's people speak of it. */
export type CloudParts = {
  cloud: Cloud
  /** What our reservations belong to in the cloud: another one is another ledger. */
  project: string
  marks: Omit<MarkScheme, 'cluster'>
  policy: Policy
  loadBalancer: LoadBalancer
  /** What was asked for and this version does not do. */
  missing: string[]
}

export type CloudTools = { userAgent: string; observe: (exchange: Exchange) => void }

/** The only place that knows all vendors. */
export function cloudParts({ settings }: CloudSettings, tools: CloudTools): CloudParts {
  const { apiKey, projectId, baseUrl, loadBalancer, cloudTimeoutMs } = settings
  const timeouts = { writeTimeoutMs: cloudTimeoutMs, readTimeoutMs: cloudTimeoutMs / 2 }
  return {
    cloud: equinixMetal({ apiKey, projectId, baseUrl, ...timeouts, ...tools }),
    project: projectId,
    marks: { usage: 'cloud-provider-equinix-metal-auto', separator: '/' },
    loadBalancer,
    missing: missing(settings),
    policy: {
      loadBalancing: loadBalancer.kind !== 'none',
      excludedNamespaces: settings.excludedNamespaces,
      controlPlaneService: 'kube-system/cloud-provider-equinix-metal-kubernetes-external',
      locationSources: locationSources(settings),
      annotations: {
        known: [settings.annotationEipFacility, settings.annotationEipMetro, ...ownAnnotations],
        prefixes: ['metal.equinix.com/', ownPrefix],
      },
      reclaimPolicy: settings.defaultReclaimPolicy,
    },
  }
}

function locationSources(settings: CloudSettings['settings']): LocationSource[] {
  const ofCluster: LocationSource[] = [
    { kind: 'setting', word: 'facility', name: 'METAL_FACILITY_NAME', value: settings.facility },
    { kind: 'setting', word: 'metro', name: 'METAL_METRO_NAME', value: settings.metro },
  ]
  const ofService: LocationSource[] = [
    { kind: 'annotation', word: 'facility', name: settings.annotationEipFacility },
    { kind: 'annotation', word: 'metro', name: settings.annotationEipMetro },
  ]
  // The code of the predecessor contradicted its README: there the Service won, and its metro before its facility.
  return settings.serviceLocationWins
    ? [...ofService.toReversed(), ...ofCluster.toReversed()]
    : [...ofCluster, ...ofService]
}

/** Settings of features that are not there are read, so that a predecessor's still start it; that must not pass silently. */
function missing({ eipTag, loadBalancerId, bgpPass, bgpNodeSelector }: CloudSettings['settings']): string[] {
  const features = [
    { asked: eipTag ?? loadBalancerId, missing: 'the control-plane address is not moved by this version' },
    { asked: bgpPass ?? bgpNodeSelector, missing: 'BGP is not configured by this version' },
  ]
  return features.filter(({ asked }) => asked !== undefined).map((feature) => feature.missing)
}
