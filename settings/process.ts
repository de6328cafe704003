import { certificates } from './certificates.ts'
import { controlPlaneSettings } from './control-plane.ts'
import { bindAddress, choice, duration, hostUrl, namespace, number, objectName, port, text } from './formats.ts'
import { leaderElection } from './leader-election.ts'
import { nodeSettings } from './nodes.ts'
import type { SettingsTable, ValuesOf } from './setting.ts'
import { statusPageSettings } from './status-page.ts'
import { tlsSettings } from './tls.ts'
import { webhookClient } from './webhook-client.ts'

/** How we connect to the Kubernetes API server. */
export const kubeconfig = {
  flag: '--kubeconfig',
  env: 'KUBECONFIG',
  format: text('file'),
  unset: 'in a pod, the cluster of the pod; elsewhere, the kubeconfig that kubectl uses',
  sentence: 'Kubeconfig file for the connection to the cluster.',
} as const

/** The namespace of our own objects, such as the Secret with our certificates. */
export const ownNamespace = {
  flag: '--namespace',
  env: 'POD_NAMESPACE',
  format: namespace,
  default: 'eip-admission',
  sentence: "Namespace of eip-admission's own objects.",
} as const

/** The API server to talk to. */
export const apiServer = {
  title: 'API server',
  flag: '--api-server',
  env: 'EIP_API_SERVER',
  format: hostUrl,
  unset: 'the one in the kubeconfig, or that of the cluster of the pod',
  sentence:
    'URL of the API server to talk to, with the same credentials. For a guardian, the API server of its own machine, such as `https://$(HOST_IP):6443`, never the address that it guards.',
} as const

const cluster = {
  kubeconfig,
  apiServer,
  namespace: ownNamespace,
  podName: {
    title: 'pod name',
    env: 'POD_NAME',
    format: objectName,
    unset: 'the process runs in no pod',
    sentence:
      'Name of the Pod that the process runs in. Events about its settings are about this Pod, otherwise about the namespace.',
  },
  podUid: {
    title: 'pod uid',
    env: 'POD_UID',
    format: text('uid'),
    unset: 'unknown',
    sentence: 'UID of that Pod, by which `kubectl describe pod` finds its Events.',
  },
} as const satisfies SettingsTable

const work = {
  only: {
    title: 'components',
    flag: '--only',
    format: choice(['webhooks', 'controllers', 'control-plane']),
    unset: 'all',
    sentence:
      'Runs only the webhooks, only the controllers (with the guardian of the control-plane address), or only that guardian. A guardian alone needs neither webhooks nor certificates, and serves health and metrics over plain HTTP.',
  },
  concurrentServiceSyncs: {
    title: 'concurrent Service syncs',
    flag: '--concurrent-service-syncs',
    format: number(1, 100),
    default: '10',
    sentence: 'Number of Services that are reconciled at the same time.',
  },
} as const satisfies SettingsTable

const listeners = {
  webhookBindAddress: {
    flag: '--webhook-bind-address',
    format: bindAddress,
    default: '::',
    sentence:
      'IP address on which the webhooks listen. :: means every address of the host, including IPv4; 0.0.0.0 means only its IPv4 addresses.',
  },
  webhookSecurePort: {
    title: 'webhook port',
    flag: '--webhook-secure-port',
    format: port,
    default: '10260',
    sentence: 'Port on which the webhooks listen.',
  },
  webhookProbeIntervalMs: {
    flag: '--webhook-probe-interval',
    env: 'EIP_WEBHOOK_PROBE_INTERVAL',
    format: duration(0),
    default: '2m',
    sentence:
      'How often the process checks, by a dry run, that the API server still calls its webhooks. `0s` turns the check off.',
  },
  bindAddress: {
    title: 'health and metrics bind address',
    flag: '--bind-address',
    format: bindAddress,
    default: '::',
    sentence:
      'IP address on which health checks and metrics are served, without authentication. 127.0.0.1 keeps them on the host; :: means all of its addresses, and 0.0.0.0 only its IPv4 addresses.',
  },
  shutdownDelayMs: {
    title: 'shutdown delay',
    flag: '--shutdown-delay-duration',
    format: duration(0),
    default: '10s',
    sentence: 'How long the webhooks continue to answer after the process receives SIGTERM.',
  },
  securePort: {
    title: 'health and metrics port',
    flag: '--secure-port',
    format: port,
    default: '10258',
    sentence: 'Port on which health checks and metrics are served.',
  },
} as const satisfies SettingsTable

const logging = {
  verbosity: {
    title: 'verbosity',
    flag: '--v',
    format: number(0, 10),
    default: '0',
    sentence:
      'Log level. 0 logs changes. 2 also logs each call to the provider and each write to the API server with its result. 3 also logs the objects in these answers, without secrets. 5 also logs each read.',
  },
  loggingFormat: {
    flag: '--logging-format',
    format: choice(['text', 'json']),
    default: 'text',
    sentence: 'Format of the log lines.',
  },
} as const satisfies SettingsTable

/** The settings of the process itself, the same for every provider. */
export const processSettings = {
  ...cluster,
  ...work,
  ...nodeSettings,
  ...controlPlaneSettings,
  ...listeners,
  ...tlsSettings,
  ...webhookClient,
  ...statusPageSettings,
  ...certificates,
  ...leaderElection,
  ...logging,
}

export type ProcessSettings = ValuesOf<typeof processSettings>

/** The same settings, grouped for the help text and the reference page. */
export const processSections = [
  { heading: 'Cluster', table: cluster },
  { heading: 'Components', table: work },
  { heading: 'Nodes', table: nodeSettings },
  { heading: 'Control-plane address', table: controlPlaneSettings },
  { heading: 'Listeners', table: { ...listeners, ...tlsSettings } },
  { heading: 'Client certificates of webhook callers', table: webhookClient },
  { heading: 'Status page', table: statusPageSettings },
  { heading: 'Certificates', table: certificates },
  { heading: 'Leader election', table: leaderElection },
  { heading: 'Logging', table: logging },
]
