import type { Annotation } from '../../lib/annotation.ts'
import { common } from '../../settings/common.ts'
import { annotation, numericId, text } from '../../settings/formats.ts'
import type { SettingsTable } from '../../settings/setting.ts'
import { nodeAnnotationName, peerAnnotationNames, serviceLocation } from '../dialect/annotations.ts'
import { defineDialect } from '../dialect/define-dialect.ts'
import {
  apiKey,
  apiServerPort,
  baseUrl,
  bgpNodeSelector,
  controlPlaneTag,
  healthCheckUseHostIp,
  loadBalancerChoice,
  projectId,
} from '../dialect/shared-settings.ts'

/** The annotation to which the predecessor writes an address that no software announces. */
const ipAnnotation: Annotation = {
  name: 'cherryservers.com/loadBalancerIPs',
  on: 'Service',
  writers: ['user', 'eip-admission'],
  values: 'an IP address',
  sentence: 'With `empty://`, the address of the Service, or a request for a user-chosen address.',
}

/** The annotation by which a user excludes a Service from load balancing. */
export const managedAnnotation: Annotation = {
  name: 'cherryservers.com/loadbalancer-managed',
  on: 'Service',
  writers: ['user'],
  values: ['true', 'false'],
  default: '`true`',
  sentence: 'With `false`, eip-admission ignores the Service.',
}

const access = {
  apiKey: apiKey('CHERRY_', 'Token for the API of Cherry Servers.'),
  projectId: projectId('CHERRY_', numericId),
  baseUrl: baseUrl('https://api.cherryservers.com/v1'),
} as const satisfies SettingsTable

const addresses = {
  region: {
    flag: '--region',
    env: 'CHERRY_REGION_NAME',
    field: 'region',
    format: text('slug'),
    unset: "the Service's annotation",
    sentence: 'Region in which new addresses are reserved: its slug, full name, ISO-2 code or id.',
    isReloaded: true,
  },
  loadBalancer: loadBalancerChoice('CHERRY_LOAD_BALANCER', { namespaceAlone: 'crd', ipAnnotation: ipAnnotation.name }),
  annotationFipRegion: {
    title: 'region annotation',
    flag: '--annotation-fip-region',
    env: 'CHERRY_ANNOTATION_FIP_REGION',
    field: 'annotationFIPRegion',
    format: annotation,
    default: 'cherryservers.com/fip-region',
    sentence: 'Name of the annotation by which a Service requests a region.',
    annotation: serviceLocation('the slug, full name, ISO-2 code or id of a region', 'the region setting'),
  },
} as const satisfies SettingsTable

const bgp = {
  // Tools that edit a server may disable its BGP. A single list shows all servers, so a shorter interval costs little.
  peerRefreshMs: { ...common.peerRefreshMs, default: '5m' },
  bgpNodeSelector: bgpNodeSelector('CHERRY_'),
  ...peerAnnotationNames('CHERRY_', 'cherryservers.com'),
  annotationMultiHop: nodeAnnotationName('CHERRY_', 'multihop', 'cherryservers.com/bgp-peers-{{n}}-peer-multi-hop'),
  annotationNetworkIpv4Private: nodeAnnotationName('CHERRY_', 'privateNetwork', 'cherryservers.com/network-4-private'),
} as const satisfies SettingsTable

const controlPlane = {
  fipTag: controlPlaneTag('CHERRY_', { address: 'fip', placeholder: 'key=value', of: 'floating IP that is' }),
  apiServerPort: apiServerPort('CHERRY_'),
  fipHealthCheckUseHostIp: healthCheckUseHostIp('CHERRY_', 'fip'),
} as const satisfies SettingsTable

/** The settings of Cherry Servers' cloud controller manager, in all its versions. */
export const cherryServers = defineDialect({
  name: 'cherry-servers',
  title: 'Cherry Servers',
  providers: ['cherryservers', 'cherry-servers'],
  envPrefix: 'CHERRY_',
  predecessors: [
    {
      id: 'cherry-servers',
      title: "Cherry Servers' cloud provider",
      image: 'cloud-provider-cherry',
      binary: 'cloud-provider-cherry',
      versions: [1],
      finalizesSince: '0',
      workload: { namespace: 'kube-system', name: 'cloud-provider-cherry' },
      secret: { namespace: 'kube-system', name: 'cherry-cloud-config', key: 'cloud-sa.json' },
    },
  ],
  names: {
    marks: { usage: 'cloud-provider-cherry-auto', separator: '/' },
    // The predecessor copied these two names from Equinix Metal's program, so its clusters have objects with them.
    announcerMarks: {
      label: { name: 'cloud-provider', value: 'equinix-metal' },
      advertisement: 'equinix-metal-bgp-adv',
      counting: 'nomatch.cherryservers.com',
      holdTime: '30s',
    },
    controlPlaneService: 'kube-system/cloud-provider-cherry-kubernetes-external',
  },
  rows: { ...access, ...addresses, ...bgp, ...controlPlane },
  annotations: [ipAnnotation, managedAnnotation],
  annotationPrefix: 'cherryservers.com/',
  loadBalancerNote:
    'In the dialect `cherry-servers`, `metallb:///<namespace>/` configures MetalLB by custom resources, because ' +
    "Cherry's own program had no other way to choose them. There, `empty://` writes the address into the annotation " +
    `\`${ipAnnotation.name}\`; \`ip-annotation\` names another one.`,
})
