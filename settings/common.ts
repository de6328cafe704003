import {
  boolean,
  choice,
  clusterId,
  duration,
  limit,
  list,
  loadBalancerClass,
  namespace,
  network,
  number,
  text,
} from './formats.ts'
import { withoutClass } from './service-policy.ts'
import type { SettingsTable, ValuesOf } from './setting.ts'

/** Settings that no predecessor had, so they are the same in every dialect. */
export const common = {
  clusterId: {
    flag: '--cluster-id',
    env: 'EIP_CLUSTER_ID',
    format: clusterId,
    unset: 'the UID of the namespace kube-system',
    sentence:
      'Id of this cluster in the marks of its reservations. Clusters of one project must have different ids; a copy restored from a backup has the same UID.',
  },
  serviceLocationWins: {
    title: 'Service location wins',
    flag: '--service-location-wins',
    env: 'EIP_SERVICE_LOCATION_WINS',
    format: boolean,
    default: 'false',
    sentence: 'A location annotation of a Service takes precedence over the location settings.',
  },
  excludedNamespaces: {
    title: 'excluded namespaces',
    flag: '--exclude-namespaces',
    env: 'EIP_EXCLUDE_NAMESPACES',
    format: list(namespace),
    default: '',
    sentence: 'Namespaces whose Services get no address from eip-admission.',
  },
  loadBalancerClasses: {
    title: 'load balancer classes',
    flag: '--load-balancer-class',
    env: 'EIP_LOAD_BALANCER_CLASS',
    format: list(loadBalancerClass),
    default: withoutClass,
    sentence:
      'Classes of Services (`spec.loadBalancerClass`) that get addresses from eip-admission; `none` means Services without a class. ' +
      'The announcing software must serve the same classes.',
  },
  ownAddressRanges: {
    flag: '--own-address-ranges',
    env: 'EIP_OWN_ADDRESS_RANGES',
    format: list(network),
    default: '',
    sentence:
      "Networks from which a user may choose a Service's own address, in addition to the project's reservations. " +
      'Addresses that are valid only inside a host, a link or this cluster are always refused.',
  },
  onCloudFailure: {
    title: 'cloud failure policy',
    flag: '--on-cloud-failure',
    env: 'EIP_ON_CLOUD_FAILURE',
    format: choice(['defer', 'deny']),
    default: 'defer',
    sentence:
      'What happens to a new Service while the provider is slow or unavailable: defer assigns its address later, deny refuses it.',
  },
  cloudTimeoutMs: {
    flag: '--cloud-timeout',
    env: 'EIP_CLOUD_TIMEOUT',
    format: duration(1000),
    default: '20s',
    sentence: 'Timeout of a call to the provider that changes something. The timeout of a read is half as long.',
  },
  unboundGraceMs: {
    title: 'unbound grace period',
    flag: '--unbound-grace',
    env: 'EIP_UNBOUND_GRACE',
    format: duration(1000),
    default: '15m',
    sentence: 'How long a reservation without a stored Service is kept before it is deleted.',
  },
  maxAddresses: {
    title: 'maximum number of addresses',
    flag: '--max-addresses',
    env: 'EIP_MAX_ADDRESSES',
    format: limit(1_000_000),
    default: '100',
    sentence:
      'Maximum number of addresses in the cluster, including retained and warm ones. At the maximum, new claims are refused; `none` removes the limit.',
  },
  maxAddressesPerNamespace: {
    title: 'maximum number of addresses per namespace',
    flag: '--max-addresses-per-namespace',
    env: 'EIP_MAX_ADDRESSES_PER_NAMESPACE',
    format: limit(1_000_000),
    default: '20',
    sentence:
      'Maximum number of addresses in one namespace, including retained ones. At the maximum, or after three times as many new addresses within an hour, new claims are refused; `none` removes the limit.',
  },
  maxUnbound: {
    title: 'maximum number of unbound addresses',
    flag: '--max-unbound',
    env: 'EIP_MAX_UNBOUND',
    format: number(1, 100_000),
    default: '100',
    sentence:
      'Maximum number of reservations without a stored Service; one namespace may have a quarter of it. At the maximum, admission reserves no address, and the controller does so later.',
  },
  warmPool: {
    flag: '--warm-pool',
    env: 'EIP_WARM_POOL',
    format: number(0, 1_000),
    default: '0',
    sentence:
      'Number of warm addresses in the location of the settings, and in each other location that Services use. A Service that gets one does not wait for the provider.',
  },
  loadBalancerManifest: {
    flag: '--load-balancer-manifest',
    env: 'EIP_LOAD_BALANCER_MANIFEST',
    format: text('file'),
    unset: 'none',
    sentence:
      'Kubernetes manifest that installs the announcing software, such as MetalLB. The leader applies it at every start.',
  },
  sweepIntervalMs: {
    flag: '--sweep-interval',
    env: 'EIP_SWEEP_INTERVAL',
    format: duration(1000),
    default: '5m',
    sentence: 'How often reservations at the provider are compared with records and Services.',
  },
  sweep: {
    title: 'sweep mode',
    flag: '--sweep',
    env: 'EIP_SWEEP',
    format: choice(['release', 'report']),
    default: 'release',
    sentence:
      'What a sweep does with orphans, which are reservations that no record and no Service needs: release deletes them, report only logs them.',
  },
  sweepUntagged: {
    title: 'sweep of untagged reservations',
    flag: '--sweep-untagged',
    env: 'EIP_SWEEP_UNTAGGED',
    format: boolean,
    default: 'false',
    sentence:
      "Treats reservations of Packet's program that name no cluster as this cluster's. One whose Service shows no address is adopted, and one that no Service needs is deleted. Set it only if no other cluster uses the project.",
  },
  peerRefreshMs: {
    flag: '--peer-refresh-interval',
    env: 'EIP_PEER_REFRESH_INTERVAL',
    format: duration(1000),
    default: '30m',
    sentence: 'The BGP peers of a node are read from the provider at least this often.',
  },
  allowRetain: {
    title: 'allow Retain',
    flag: '--allow-retain',
    env: 'EIP_ALLOW_RETAIN',
    format: boolean,
    default: 'true',
    sentence:
      'Whether a Service may have its reservation retained, by annotation or by protection. The default reclaim policy is not affected.',
  },
  defaultReclaimPolicy: {
    flag: '--default-reclaim-policy',
    env: 'EIP_DEFAULT_RECLAIM_POLICY',
    format: choice(['Delete', 'Retain']),
    default: 'Delete',
    sentence:
      'Whether the reservation of a deleted Service is deleted or retained. An annotation of the Service takes precedence.',
  },
} as const satisfies SettingsTable

/** The operator's choices for the addresses of the whole cluster, which all dialects share. */
export type ClusterSettings = ValuesOf<typeof common>
