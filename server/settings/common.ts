import { boolean, choice, duration, list, namespace, number } from './formats.ts'
import type { SettingsTable } from './setting.ts'

/** What no predecessor had: the same in every dialect. */
export const common = {
  serviceLocationWins: {
    title: 'Service location wins',
    flag: '--service-location-wins',
    env: 'EIP_SERVICE_LOCATION_WINS',
    format: boolean,
    default: 'false',
    sentence: 'The location in an annotation of a Service goes before the one of the settings.',
  },
  excludedNamespaces: {
    title: 'excluded namespaces',
    flag: '--exclude-namespaces',
    env: 'EIP_EXCLUDE_NAMESPACES',
    format: list(namespace),
    default: '',
    sentence: 'Namespaces whose Services get no address from us.',
  },
  onCloudFailure: {
    title: 'on cloud failure',
    flag: '--on-cloud-failure',
    env: 'EIP_ON_CLOUD_FAILURE',
    format: choice(['defer', 'deny']),
    default: 'defer',
    sentence: 'A Service that is created while the cloud is slow or broken gets its address later, or is refused.',
  },
  cloudTimeoutMs: {
    title: 'cloud timeout',
    flag: '--cloud-timeout',
    env: 'EIP_CLOUD_TIMEOUT',
    format: duration(1000),
    default: '20s',
    sentence: 'How long a call that changes something in the cloud may take; one that only reads, half of it.',
  },
  unboundGraceMs: {
    title: 'unbound grace',
    flag: '--unbound-grace',
    env: 'EIP_UNBOUND_GRACE',
    format: duration(1000),
    default: '15m',
    sentence: 'How long a reserved address waits for its Service to appear before it is given back.',
  },
  mostAddresses: {
    title: 'most addresses',
    flag: '--most-addresses',
    env: 'EIP_MOST_ADDRESSES',
    format: number(0, 1_000_000),
    unset: 'no limit',
    sentence: 'Addresses that the cluster may hold, retained ones included.',
  },
  mostAddressesPerNamespace: {
    title: 'most addresses of a namespace',
    flag: '--most-addresses-per-namespace',
    env: 'EIP_MOST_ADDRESSES_PER_NAMESPACE',
    format: number(0, 1_000_000),
    unset: 'no limit',
    sentence: 'Addresses that one namespace may hold, retained ones included.',
  },
  mostUnbound: {
    title: 'most unbound addresses',
    flag: '--most-unbound',
    env: 'EIP_MOST_UNBOUND',
    format: number(1, 100_000),
    default: '100',
    sentence:
      'Addresses that may wait for their Services at a time; beyond it admission reserves none, and they follow later.',
  },
  sweepIntervalMs: {
    title: 'sweep interval',
    flag: '--sweep-interval',
    env: 'EIP_SWEEP_INTERVAL',
    format: duration(1000),
    default: '5m',
    sentence: "How often the cloud's reservations are compared with the cluster's Services.",
  },
  defaultReclaimPolicy: {
    title: 'default reclaim policy',
    flag: '--default-reclaim-policy',
    env: 'EIP_DEFAULT_RECLAIM_POLICY',
    format: choice(['Delete', 'Retain']),
    default: 'Delete',
    sentence: 'What becomes of an address whose Service goes, unless the Service says otherwise.',
  },
} as const satisfies SettingsTable
