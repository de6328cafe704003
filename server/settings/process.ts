import { certificates } from './certificates.ts'
import { cloudProvider, cloudProviders } from './dialects.ts'
import { bindAddress, choice, duration, namespace, number, port, text } from './formats.ts'
import { leaderElection } from './leader-election.ts'
import { nodeSettings } from './nodes.ts'
import type { SettingsTable, ValuesOf } from './setting.ts'
import { webhookClient } from './webhook-client.ts'

/** Which dialect, and where its file is: known before the rest can be read. */
export const cloudChoice = {
  dialect: {
    title: 'cloud provider',
    flag: '--cloud-provider',
    format: cloudProvider,
    required: true,
    sentence: `Whose names for settings, tags and annotations are kept: ${cloudProviders}.`,
  },
  cloudConfig: {
    title: 'cloud configuration file',
    flag: '--cloud-config',
    aliases: ['--provider-config'],
    format: text('file'),
    unset: 'none',
    sentence: 'JSON file with settings of the cloud, usually mounted from a Secret.',
  },
} as const satisfies SettingsTable

/** How the Kubernetes API server is reached. */
export const kubeconfig = {
  title: 'kubeconfig',
  flag: '--kubeconfig',
  env: 'KUBECONFIG',
  format: text('file'),
  sentence: 'How to reach the cluster.',
} as const

/** The namespace of our own objects. */
export const ownNamespace = {
  title: 'namespace',
  flag: '--namespace',
  env: 'POD_NAMESPACE',
  format: namespace,
  default: 'eip-admission',
  sentence: 'Namespace of our own objects.',
} as const

const cluster = {
  kubeconfig: { ...kubeconfig, unset: 'the cluster we run in' },
  namespace: ownNamespace,
} as const satisfies SettingsTable

const work = {
  only: {
    title: 'only',
    flag: '--only',
    format: choice(['webhooks', 'controllers']),
    unset: 'both',
    sentence: 'Half of the work to do in this process.',
  },
  concurrentServiceSyncs: {
    title: 'concurrent Service syncs',
    flag: '--concurrent-service-syncs',
    format: number(1, 100),
    default: '10',
    sentence: 'Services that are worked on at the same time.',
  },
} as const satisfies SettingsTable

const listeners = {
  webhookBindAddress: {
    title: 'webhook bind address',
    flag: '--webhook-bind-address',
    format: bindAddress,
    default: '0.0.0.0',
    sentence: 'Address on which webhooks are served.',
  },
  webhookSecurePort: {
    title: 'webhook port',
    flag: '--webhook-secure-port',
    format: port,
    default: '10260',
    sentence: 'Port on which webhooks are served.',
  },
  bindAddress: {
    title: 'bind address',
    flag: '--bind-address',
    format: bindAddress,
    default: '0.0.0.0',
    sentence: 'Address on which health and metrics are served.',
  },
  shutdownDelayMs: {
    title: 'shutdown delay',
    flag: '--shutdown-delay-duration',
    format: duration(0),
    default: '10s',
    sentence: 'How long reviews are still answered after the process was told to stop.',
  },
  securePort: {
    title: 'port',
    flag: '--secure-port',
    format: port,
    default: '10258',
    sentence: 'Port on which health and metrics are served.',
  },
} as const satisfies SettingsTable

const logging = {
  verbosity: {
    title: 'verbosity',
    flag: '--v',
    format: number(0, 10),
    default: '0',
    sentence: 'How much is logged: 2 is calls and their results, 3 whole objects, 5 everything.',
  },
  loggingFormat: {
    title: 'logging format',
    flag: '--logging-format',
    format: choice(['text', 'json']),
    default: 'text',
    sentence: 'How log lines are written.',
  },
} as const satisfies SettingsTable

/** What the process itself is told by its command line. */
export const processSettings = {
  ...cluster,
  ...work,
  ...nodeSettings,
  ...listeners,
  ...webhookClient,
  ...certificates,
  ...leaderElection,
  ...logging,
}

export type ProcessSettings = ValuesOf<typeof processSettings>

/** The same rows, as people look for them. */
export const processSections = [
  { heading: 'Cluster', table: cluster },
  { heading: 'Work', table: work },
  { heading: 'Nodes', table: nodeSettings },
  { heading: 'Serving', table: listeners },
  { heading: 'Callers of the webhooks', table: webhookClient },
  { heading: 'Certificates', table: certificates },
  { heading: 'Leader election', table: leaderElection },
  { heading: 'Logging', table: logging },
]
