import { common } from '../../../settings/common.ts'
import { asn, boolean, duration, text, url } from '../../../settings/formats.ts'
import type { SettingsTable } from '../../../settings/setting.ts'
import { nodeAnnotationName } from '../../dialect/annotations.ts'
import { defineDialect } from '../../dialect/define-dialect.ts'
import {
  apiKey,
  baseUrl,
  controlPlaneTag,
  loadBalancerChoice,
  localAsn,
  projectId,
} from '../../dialect/shared-settings.ts'

const access = {
  apiKey: apiKey('PACKET_', 'Token for the API of Equinix Metal, which was called Packet.'),
  projectId: projectId('PACKET_'),
  baseUrl: baseUrl('https://api.equinix.com/metal/v1'),
} as const satisfies SettingsTable

const addresses = {
  facility: {
    flag: '--facility',
    env: 'PACKET_FACILITY_NAME',
    field: 'facility',
    format: text('code'),
    unset: 'the facility that the metadata service of this host reports',
    sentence: 'Facility in which new addresses are reserved.',
    isReloaded: true,
  },
  metadataUrl: {
    title: 'metadata URL',
    flag: '--metadata-url',
    env: 'EIP_METADATA_URL',
    format: url('loopback'),
    default: 'https://metadata.platformequinix.com',
    sentence: 'URL of the metadata service. It is read only if no facility is set.',
  },
  loadBalancer: {
    ...loadBalancerChoice('PACKET_LOAD_BALANCER', { namespaceAlone: 'undecided' }),
    default: 'metallb:///metallb-system/config',
  },
  disableLoadBalancer: {
    title: 'load balancing disabled',
    flag: '--disable-loadbalancer',
    env: 'PACKET_DISABLE_LB',
    field: 'disable-loadbalancer',
    format: boolean,
    default: 'false',
    sentence: 'Disables load balancing, whatever the load balancer setting is. BGP and the node annotations stay on.',
  },
  sweepIntervalMs: {
    ...common.sweepIntervalMs,
    env: 'PACKET_SWEEP_INTERVAL',
    otherEnv: [common.sweepIntervalMs.env],
    field: 'sweepInterval',
    format: duration(1000),
    default: '30s',
  },
} as const satisfies SettingsTable

const bgp = {
  localAsn: localAsn('PACKET_'),
  peerAsn: {
    title: 'peer ASN',
    flag: '--peer-asn',
    env: 'PACKET_PEER_ASN',
    field: 'peerASN',
    format: asn,
    unset: 'the ASN that the API reports, else 65530',
    sentence: 'ASN of the BGP peers of nodes, whatever the API reports.',
  },
  annotationLocalAsn: nodeAnnotationName('PACKET_', 'localAsn', 'packet.com/node.asn'),
  annotationPeerAsns: nodeAnnotationName('PACKET_', 'peerAsns', 'packet.com/peer.asns'),
  annotationPeerIps: nodeAnnotationName('PACKET_', 'peerAddresses', 'packet.com/peer.ips'),
} as const satisfies SettingsTable

const controlPlane = {
  eipTag: controlPlaneTag('PACKET_', { address: 'eip', placeholder: 'tag', of: 'reservation whose address is' }),
} as const satisfies SettingsTable

/** The settings of Packet's cloud controller manager, versions 1 and 2. */
export const packet = defineDialect({
  name: 'packet',
  title: 'Packet',
  providers: ['packet'],
  envPrefix: 'PACKET_',
  predecessors: [
    {
      id: 'packet',
      title: "Packet's cloud controller manager",
      image: 'packet-ccm',
      binary: 'packet-cloud-controller-manager',
      versions: [1, 2],
      formerSettings: [
        {
          until: '3',
          env: 'PACKET_LB_CONFIGMAP',
          field: 'loadbalancer-configmap',
          flag: '--loadbalancer',
          // Without a namespace, the predecessor managed no ConfigMap, as with `disabled`.
          translate: (place) => (place.includes(':') ? `metallb:///${place.replace(':', '/')}` : 'none'),
        },
        // Its README spells the field like ours, but the program reads this one.
        {
          until: '2',
          field: 'disableLoadBalancer',
          flag: '--disable-loadbalancer',
        },
      ],
      workload: { namespace: 'kube-system', name: 'packet-cloud-controller-manager' },
      secret: { namespace: 'kube-system', name: 'packet-cloud-config', key: 'cloud-sa.json' },
    },
  ],
  names: {
    // Its README says `namespace.name`, which we also wrote at first; the program itself hashes `namespace/name`.
    marks: { usage: 'packet-ccm-auto', separator: '/', otherSeparator: '.', adoptsUnmarked: true },
    announcerMarks: {
      label: { name: 'cloud-provider', value: 'packet' },
      advertisement: 'packet-bgp-adv',
      counting: 'nomatch.packet.com',
    },
    controlPlaneService: 'kube-system/packet-ccm-kubernetes-external',
  },
  rows: { ...access, ...addresses, ...bgp, ...controlPlane },
  annotations: [],
  loadBalancerNote:
    'In the dialect `packet` the annotations of the ASNs and of the peer have other names by default: set them to those that ' +
    'kube-vip reads. eip-admission never writes `src-ip` there: with `kube-vip://`, set it on each node yourself.',
})
