import { boolean, objectName, url } from './formats.ts'
import { leaderElection } from './leader-election.ts'
import { kubeconfig, ownNamespace } from './process.ts'
import type { SettingsTable, ValuesOf } from './setting.ts'

const cluster = { ...kubeconfig, unset: 'the kubeconfig that kubectl uses' } as const

/** The settings of `install`. */
export const installSettings = {
  kubeconfig: cluster,
  webhookUrl: {
    title: 'webhook URL',
    flag: '--webhook-url',
    format: url('never'),
    unset: 'the Service eip-admission in the cluster',
    sentence: 'Base URL of the webhooks, for an `eip-admission serve` that runs outside the cluster.',
  },
  dryRun: {
    title: 'dry run',
    flag: '--dry-run',
    format: boolean,
    default: 'false',
    sentence: 'Prints the objects as YAML and changes nothing.',
  },
  namespace: ownNamespace,
  leaseNamespace: leaderElection.leaseNamespace,
  leaseName: leaderElection.leaseName,
  metallbConfigMap: {
    title: 'MetalLB ConfigMap',
    flag: '--metallb-configmap',
    format: objectName,
    default: 'config',
    sentence:
      'Name of the ConfigMap that MetalLB before 0.13 reads. The installed role may write this ConfigMap and no other there.',
  },
} as const satisfies SettingsTable

/** The settings of `cleanup`. */
export const cleanupSettings = {
  kubeconfig: cluster,
  yes: {
    title: 'confirmation',
    flag: '--yes',
    format: boolean,
    default: 'false',
    sentence: 'Makes the changes. Without it, cleanup only prints them.',
  },
} as const satisfies SettingsTable

export type InstallSettings = ValuesOf<typeof installSettings>
export type CleanupSettings = ValuesOf<typeof cleanupSettings>
