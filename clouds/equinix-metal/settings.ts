import type { Annotation } from '../../lib/annotation.ts'
import { annotation, password, text, url } from '../../settings/formats.ts'
import type { SettingsTable, Reading } from '../../settings/setting.ts'
import { nodeAnnotationName, peerAnnotationNames, serviceLocation } from '../dialect/annotations.ts'
import { type FormerSetting, defineDialect } from '../dialect/define-dialect.ts'
import {
  apiKey,
  apiServerPort,
  baseUrl,
  bgpNodeSelector,
  controlPlaneTag,
  healthCheckUseHostIp,
  loadBalancerChoice,
  localAsn,
  projectId,
} from '../dialect/shared-settings.ts'
import type { LoadBalancer, LoadBalancerScheme, Parts } from '../../announcers/setting.ts'
import { oneOf } from '../../lib/text.ts'
import { balancerMetros } from './balancers/locations.ts'

const metroCodes = oneOf(balancerMetros.map(({ code }) => code))

/** The value of the load balancer setting with which managed load balancers serve the Services. */
export const managedSchemes: Record<string, LoadBalancerScheme> = {
  emlb: {
    written: 'emlb:///metro',
    meaning:
      "Equinix Metal's managed load balancers in one metro, without Elastic IPs, announcing software and BGP. " +
      `The metro is ${metroCodes}.`,
    parameters: [],
    depth: 1,
    read: readEmlb,
  },
}

function readEmlb({ path: [given] }: Parts): Reading<LoadBalancer> {
  const metro = balancerMetros.find(({ code }) => code === given?.toLowerCase())?.code
  if (metro === undefined) return { right: `the metro of the load balancers after the slashes: ${metroCodes}` }
  return { value: { kind: 'managed', scheme: 'emlb', location: metro } }
}

const access = {
  apiKey: apiKey('METAL_', 'Token for the API of Equinix Metal.'),
  projectId: projectId('METAL_'),
  baseUrl: baseUrl('https://api.equinix.com/metal/v1'),
  balancersUrl: {
    title: 'load balancer API URL',
    flag: '--load-balancer-api-url',
    env: 'EIP_LOAD_BALANCER_API_URL',
    format: url('loopback'),
    default: 'https://lb.metalctrl.io',
    sentence: 'URL of the API of managed load balancers (`emlb`). Plain http is allowed only to a loopback address.',
  },
  tokensUrl: {
    title: 'token exchange URL',
    flag: '--token-exchange-url',
    env: 'EIP_TOKEN_EXCHANGE_URL',
    format: url('loopback'),
    default: 'https://iam.metalctrl.io',
    sentence:
      'URL at which the API key is exchanged for tokens of that API. Plain http is allowed only to a loopback address.',
  },
} as const satisfies SettingsTable

const addresses = {
  metro: {
    flag: '--metro',
    env: 'METAL_METRO_NAME',
    field: 'metro',
    format: text('code'),
    unset: "the Service's annotations",
    sentence: 'Metro in which new addresses are reserved.',
    isReloaded: true,
  },
  facility: {
    flag: '--facility',
    env: 'METAL_FACILITY_NAME',
    field: 'facility',
    format: text('code'),
    unset: "the metro, then the Service's annotations",
    sentence: 'Facility in which new addresses are reserved. It takes precedence over the metro.',
    isReloaded: true,
  },
  loadBalancer: loadBalancerChoice('METAL_LOAD_BALANCER', { namespaceAlone: 'undecided', managed: managedSchemes }),
  annotationEipMetro: {
    title: 'metro annotation',
    flag: '--annotation-eip-metro',
    env: 'METAL_ANNOTATION_EIP_METRO',
    field: 'annotationEIPMetro',
    format: annotation,
    default: 'metal.equinix.com/eip-metro',
    sentence: 'Name of the annotation with which a Service requests a metro.',
    annotation: serviceLocation('a metro code, such as `da`', 'the metro setting'),
  },
  annotationEipFacility: {
    title: 'facility annotation',
    flag: '--annotation-eip-facility',
    env: 'METAL_ANNOTATION_EIP_FACILITY',
    field: 'annotationEIPFacility',
    format: annotation,
    default: 'metal.equinix.com/eip-facility',
    sentence: 'Name of the annotation with which a Service requests a facility.',
    annotation: serviceLocation('a facility code, such as `da11`', 'the facility setting'),
  },
} as const satisfies SettingsTable

const bgp = {
  localAsn: localAsn('METAL_'),
  bgpPass: {
    title: 'BGP password',
    env: 'METAL_BGP_PASS',
    field: 'bgpPass',
    format: password,
    unset: 'none',
    sentence:
      'Password with which eip-admission enables BGP on the project. A project that already has BGP keeps its own.',
  },
  bgpNodeSelector: bgpNodeSelector('METAL_'),
  ...peerAnnotationNames('METAL_', 'metal.equinix.com'),
  annotationBgpPass: nodeAnnotationName('METAL_', 'password', 'metal.equinix.com/bgp-peers-{{n}}-bgp-pass'),
  annotationNetworkIpv4Private: nodeAnnotationName('METAL_', 'privateNetwork', 'metal.equinix.com/network-4-private'),
} as const satisfies SettingsTable

/** The node annotations' names before version 3.3 of the predecessor. */
const oldNodeAnnotations = ['node-asn', 'peer-asn', 'peer-ip', 'src-ip', 'bgp-pass'].map((name): Annotation => ({
  name: `metal.equinix.com/${name}`,
  on: 'Node',
  writers: ['predecessor'],
  values: 'as above',
  sentence:
    "Name before the predecessor's version 3.3. With `kube-vip://`, eip-admission removes it, because kube-vip may read it.",
}))

const controlPlane = {
  eipTag: controlPlaneTag('METAL_', { address: 'eip', placeholder: 'tag', of: 'reservation whose address is' }),
  loadBalancerId: {
    title: 'control-plane load balancer',
    flag: '--load-balancer-id',
    env: 'METAL_LOAD_BALANCER_ID',
    field: 'loadBalancerID',
    format: text('id'),
    unset: 'off',
    sentence:
      'Id of the managed load balancer in front of the control plane, with emlb:///metro. Its origins are the control-plane nodes that answer.',
  },
  apiServerPort: apiServerPort('METAL_'),
  eipHealthCheckUseHostIp: healthCheckUseHostIp('METAL_', 'eip'),
} as const satisfies SettingsTable

/** The annotations that show a Service's managed load balancer. The predecessor wrote them, too. */
export const balancerAnnotations = { id: 'equinix.com/loadbalancerID', location: 'equinix.com/loadbalancerMetro' }

const balancerAnnotationRows: readonly Annotation[] = [
  {
    name: balancerAnnotations.id,
    on: 'Service',
    writers: ['eip-admission', 'predecessor'],
    values: 'the id of a load balancer',
    sentence: 'The managed load balancer of the Service (`emlb`). An id of another load balancer is refused.',
  },
  {
    name: balancerAnnotations.location,
    on: 'Service',
    writers: ['eip-admission', 'predecessor'],
    values: 'a metro code, such as `da`',
    sentence: 'The metro of that load balancer.',
  },
]

const formerSettings: readonly FormerSetting[] = [
  { until: '3.2', env: 'METAL_LB', flag: '--loadbalancer' },
  // Such an annotation contains all peers of a node, like ours under a name without `{{n}}`.
  { until: '3.2.3', env: 'METAL_ANNOTATION_PEER_ASNS', flag: '--annotation-peer-asn' },
  { until: '3.2.3', env: 'METAL_ANNOTATION_PEER_IPS', flag: '--annotation-peer-ip' },
]

const predecessor = {
  binary: 'cloud-provider-equinix-metal',
  versions: [3],
  finalizesSince: '3.4',
  formerSettings,
  workload: { namespace: 'kube-system', name: 'cloud-provider-equinix-metal' },
  secret: { namespace: 'kube-system', name: 'metal-cloud-config', key: 'cloud-sa.json' },
} as const

/** The settings of Equinix Metal's cloud controller manager, version 3. */
export const equinixMetal = defineDialect({
  name: 'equinix-metal',
  title: 'Equinix Metal',
  providers: ['equinixmetal', 'equinix-metal'],
  envPrefix: 'METAL_',
  predecessors: [
    {
      ...predecessor,
      id: 'equinix-metal-sidero',
      title: "Sidero Labs' fork of Equinix Metal's cloud provider",
      image: 'siderolabs/cloud-provider-equinix-metal',
    },
    {
      ...predecessor,
      id: 'equinix-metal',
      title: "Equinix Metal's cloud provider (CPEM)",
      image: 'cloud-provider-equinix-metal',
    },
  ],
  names: {
    // The predecessor also named load balancers by these marks.
    marks: { usage: 'cloud-provider-equinix-metal-auto', separator: '/' },
    announcerMarks: {
      label: { name: 'cloud-provider', value: 'equinix-metal' },
      advertisement: 'equinix-metal-bgp-adv',
      counting: 'nomatch.metal.equinix.com',
    },
    controlPlaneService: 'kube-system/cloud-provider-equinix-metal-kubernetes-external',
  },
  rows: { ...access, ...addresses, ...bgp, ...controlPlane },
  annotations: [...oldNodeAnnotations, ...balancerAnnotationRows],
  annotationPrefix: 'metal.equinix.com/',
  loadBalancerNote: 'Only the dialect `equinix-metal` supports `emlb`.',
  managed: { schemes: managedSchemes, annotations: balancerAnnotations },
})
