import { boolean, objectName, url } from './formats.ts'
import { leaderElection } from './leader-election.ts'
import { kubeconfig, ownNamespace } from './process.ts'
import type { SettingsTable, ValuesOf } from './setting.ts'

const cluster = { ...kubeconfig, unset: "kubectl's" } as const

/** What `install` is told. */
export const installSettings = {
  kubeconfig: cluster,
  webhookUrl: {
    title: 'webhook URL',
    flag: '--webhook-url',
    format: url('never'),
    unset: 'the Service in the cluster',
    sentence: 'Where the API server finds the webhooks of a server that runs outside the cluster.',
  },
  dryRun: {
    title: 'dry run',
    flag: '--dry-run',
    format: boolean,
    default: 'false',
    sentence: 'Prints the objects as YAML instead of applying them.',
  },
  namespace: ownNamespace,
  leaseNamespace: leaderElection.leaseNamespace,
  metallbConfigMap: {
    title: 'ConfigMap of MetalLB',
    flag: '--metallb-configmap',
    format: objectName,
    default: 'config',
    sentence: 'The ConfigMap that MetalLB before 0.13 reads: of all in its namespace the one that we may write.',
  },
} as const satisfies SettingsTable

/** What `cleanup` is told. */
export const cleanupSettings = {
  kubeconfig: cluster,
  yes: {
    title: 'yes',
    flag: '--yes',
    format: boolean,
    default: 'false',
    sentence: 'Does it, instead of only saying what would be done.',
  },
} as const satisfies SettingsTable

export type InstallSettings = ValuesOf<typeof installSettings>
export type CleanupSettings = ValuesOf<typeof cleanupSettings>
