import { equinixMetalBalancers } from './balancers/client.ts'
import { balancerMetros } from './balancers/locations.ts'
import { equinixMetal } from './client.ts'
import type { ManagedPolicy } from '../../settings/service-policy.ts'
import { makeBgp } from '../dialect/bgp.ts'
import { type SettingsOf, withProvider } from '../dialect/define-dialect.ts'
import type { LoadBalancer } from '../../announcers/setting.ts'
import { outdatedNodeAnnotations, serviceAnnotationNames } from '../dialect/annotations.ts'
import { balancerAnnotations, equinixMetal as dialect } from './settings.ts'
import { type CloudTools, cloudPorts, cloudTimeouts, controlPlaneOf } from '../dialect/provider-parts.ts'
import { placesOf } from '../../settings/setting.ts'
import { oneOf } from '../../lib/text.ts'
import { machineId } from './machines.ts'
import { maxPrefixes } from './peering.ts'
import { type DialectPolicy, makePolicy } from '../dialect/policy.ts'
import type { CloudProvider, ManagedBalancers } from '../ports/cloud-provider.ts'

const { marks, announcerMarks, controlPlaneService } = dialect.names

type Settings = SettingsOf<typeof dialect>

/** Equinix Metal in the dialect of its cloud controller manager, version 3. */
function makeProvider(settings: Settings, { userAgent, proxy, observe }: CloudTools): CloudProvider {
  const { apiKey, projectId, baseUrl, loadBalancer } = settings
  return {
    ...cloudPorts(equinixMetal({ apiKey, projectId, baseUrl, userAgent, proxy, observe, ...cloudTimeouts(settings) })),
    providerIds: { scheme: 'equinixmetal', older: ['packet'], id: machineId },
    bgp: dialectBgp(settings),
    project: { id: projectId, setting: oneOf(placesOf(dialect.rows.projectId)) },
    marks,
    managedBalancers: managedBalancers(settings, { userAgent, proxy, observe }),
    loadBalancer,
    announcerMarks,
    controlPlane: controlPlaneOf({
      tag: settings.eipTag,
      port: settings.apiServerPort,
      byHostAddress: settings.eipHealthCheckUseHostIp,
    }),
    controlPlaneBalancer: controlPlaneBalancer(settings),
    unsupported: ignoredBalancer(settings),
    policy: makePolicy(settings, {
      loadBalancer,
      controlPlaneService,
      managed: managedPolicy(loadBalancer),
      annotations: serviceAnnotationNames(dialect, settings),
      annotationPrefix: dialect.annotationPrefix,
      ...locationSources(settings),
    }),
  }
}

/** Everything of Equinix Metal that other rooms may know. */
export const equinixMetalDialect = withProvider(dialect, makeProvider)

/** As for the predecessor, the id counts where managed load balancers serve the Services. */
function controlPlaneBalancer({ loadBalancer, loadBalancerId: id, apiServerPort: port }: Settings) {
  if (id === undefined || loadBalancer.kind !== 'managed') return undefined
  return { id, ...(port !== 0 && { port }) }
}

function ignoredBalancer({ loadBalancer, loadBalancerId: id, eipTag }: Settings): string[] {
  if (id === undefined) return []
  if (loadBalancer.kind !== 'managed')
    return ['METAL_LOAD_BALANCER_ID has no effect without METAL_LOAD_BALANCER=emlb:///<metro>']
  return eipTag === undefined ? [] : ['METAL_EIP_TAG has no effect beside METAL_LOAD_BALANCER_ID']
}

/** Only managed load balancers serve Services, in the metro of the setting. */
function managedPolicy(loadBalancer: LoadBalancer): ManagedPolicy | undefined {
  if (loadBalancer.kind !== 'managed') return undefined
  const annotations = balancerAnnotations
  return { location: loadBalancer.location, setting: 'METAL_LOAD_BALANCER', locations: balancerMetros, annotations }
}

/** Present with every load balancer setting: balancers of an earlier one are deleted. */
function managedBalancers(
  settings: Settings,
  { userAgent, proxy, observe }: Pick<CloudTools, 'userAgent' | 'proxy' | 'observe'>,
): ManagedBalancers {
  const { apiKey, projectId, balancersUrl: baseUrl, tokensUrl } = settings
  const urls = { baseUrl, tokensUrl }
  return {
    client: equinixMetalBalancers({
      apiKey,
      projectId,
      ...urls,
      userAgent,
      proxy,
      observe,
      ...cloudTimeouts(settings),
    }),
    annotations: balancerAnnotations,
    formerName: ({ usage, service, cluster }) => `usage=${usage}:service=${service}:cluster=${cluster}`,
    // Nodes of an older setup may have a facility as their region, which says nothing against its metro.
    isElsewhere: (region, location) => /^[a-z]{2}$/.test(region) && region !== location,
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
