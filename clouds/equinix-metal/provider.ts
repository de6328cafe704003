import type { ManagedBalancers } from '../ports/cloud-provider.ts'
import { placesText } from '../../settings/setting.ts'
import type { SettingsOf } from '../dialect/define-dialect.ts'
import { withProvider } from '../dialect/with-provider.ts'
import { equinixMetalBalancers } from './balancers/client.ts'
import { balancerMetros } from './balancers/locations.ts'
import { equinixMetal } from './client.ts'
import { machineId } from './machines.ts'
import { maxPrefixes } from './peering.ts'
import { balancerAnnotations, equinixMetal as dialect } from './settings.ts'

type Settings = SettingsOf<typeof dialect>

/** Equinix Metal in the dialect of its cloud controller manager, version 3. */
export const equinixMetalDialect = withProvider(dialect, (settings, { tuning }) => {
  const { apiKey, projectId, baseUrl, balancersUrl, tokensUrl, loadBalancer } = settings
  const { eipTag, apiServerPort, eipHealthCheckUseHostIp } = settings
  const balancers = equinixMetalBalancers({ apiKey, projectId, baseUrl: balancersUrl, tokensUrl, ...tuning })
  return {
    client: equinixMetal({ apiKey, projectId, baseUrl, ...tuning }),
    providerIds: { scheme: 'equinixmetal', older: ['packet'], id: machineId },
    bgp: {
      project: { asn: settings.localAsn, password: settings.bgpPass },
      selector: settings.bgpNodeSelector,
      maxPrefixes,
    },
    project: { id: projectId, setting: placesText(dialect.rows.projectId) },
    // Present with every load balancer setting, so that balancers of an earlier one are deleted.
    managedBalancers: managedBalancers(balancers),
    controlPlane: { tag: eipTag, port: apiServerPort, byHostAddress: eipHealthCheckUseHostIp },
    controlPlaneBalancer: controlPlaneBalancer(settings),
    unsupported: ignoredBalancer(settings),
    policy: {
      // Then only managed load balancers serve Services, in the metro of the setting.
      ...(loadBalancer.kind === 'managed' && {
        managed: {
          location: loadBalancer.location,
          setting: 'METAL_LOAD_BALANCER',
          locations: balancerMetros,
          annotations: balancerAnnotations,
        },
      }),
      // A facility takes precedence over a metro.
      locationSettings: [
        { kind: 'setting', word: 'facility', name: 'METAL_FACILITY_NAME', value: settings.facility },
        { kind: 'setting', word: 'metro', name: 'METAL_METRO_NAME', value: settings.metro },
      ],
      locationAnnotations: [
        { kind: 'annotation', word: 'facility', name: settings.annotationEipFacility },
        { kind: 'annotation', word: 'metro', name: settings.annotationEipMetro },
      ],
    },
  }
})

/** Like for the predecessor, the id applies only if managed load balancers serve the Services. */
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

function managedBalancers(client: ManagedBalancers['client']): ManagedBalancers {
  return {
    client,
    annotations: balancerAnnotations,
    formerName: ({ usage, service, cluster }) => `usage=${usage}:service=${service}:cluster=${cluster}`,
    // Nodes of an older setup may have a facility as their region, which does not contradict its metro.
    isElsewhere: (region, location) => /^[a-z]{2}$/.test(region) && region !== location,
  }
}
