import { boolean, choice, objectName, text, url } from '../../settings/formats.ts'
import { common } from '../../settings/common.ts'
import { readSettingsFile } from '../../settings/file.ts'
import { leaderElection } from '../../settings/leader-election.ts'
import { loadBalancer } from '../../announcers/load-balancer-setting.ts'
import { apiServer, kubeconfig, ownNamespace } from '../../settings/process.ts'
import { type Sources, resolveSettings } from '../../settings/resolve.ts'
import type { SettingsTable, ValuesOf } from '../../settings/setting.ts'
import { cloudChoice, managedSchemes } from '../../clouds/cloud-choice.ts'
import { dialects } from '../../clouds/dialects.ts'

const cluster = { ...kubeconfig, unset: 'the kubeconfig that kubectl uses' } as const

/** The variables of the load balancer setting: each dialect has one. */
const [loadBalancerVariable, ...otherVariables] = dialects.flatMap(({ rows }) => rows.loadBalancer.env ?? [])

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
    flag: '--dry-run',
    format: boolean,
    default: 'false',
    sentence: 'Prints the objects as YAML and changes nothing.',
  },
  overwrite: {
    flag: '--overwrite',
    format: boolean,
    default: 'false',
    sentence:
      'Also changes objects that Helm installed, replaces a webhook URL with the Service in the cluster, and ' +
      'takes over the installation of another namespace.',
  },
  namespace: ownNamespace,
  leaseNamespace: leaderElection.leaseNamespace,
  leaseName: leaderElection.leaseName,
  loadBalancerClasses: {
    ...common.loadBalancerClasses,
    sentence: 'The same setting as for `serve`. The webhooks review Services of these classes.',
  },
  loadBalancer: {
    title: 'load balancer',
    flag: '--loadbalancer',
    ...(loadBalancerVariable !== undefined && { env: loadBalancerVariable }),
    otherEnv: otherVariables,
    field: 'loadbalancer',
    format: loadBalancer({ namespaceAlone: 'undecided', managed: managedSchemes }),
    unset: 'a ConfigMap `config` in any namespace',
    sentence: 'The load balancer setting of `serve`. It names the ConfigMap that MetalLB before 0.13 reads.',
  },
  cloudConfig: {
    ...cloudChoice.cloudConfig,
    sentence: 'The configuration file of `serve`. Only the field `loadbalancer` is read.',
  },
  metallbConfigMap: {
    title: 'MetalLB ConfigMap',
    flag: '--metallb-configmap',
    format: objectName,
    unset: 'the one of the load balancer setting',
    sentence: 'Name of that ConfigMap, if it differs. The process may write only this ConfigMap there.',
  },
  loadBalancerManifest: {
    ...common.loadBalancerManifest,
    sentence:
      'The manifest that `serve` gets through the same flag. Grants the process the rights to apply exactly its objects.',
  },
} as const satisfies SettingsTable

/** The settings of `cleanup`. */
export const cleanupSettings = {
  kubeconfig,
  apiServer: { ...apiServer, sentence: 'URL of the API server to talk to, with the same credentials.' },
  yes: {
    title: 'confirmation',
    flag: '--yes',
    format: boolean,
    default: 'false',
    sentence: 'Makes the changes. Without it, cleanup only prints them.',
  },
} as const satisfies SettingsTable

/** The settings of `doctor`, besides the settings of `serve`. */
export const doctorSettings = {
  output: {
    flag: '--output',
    short: '-o',
    format: choice(['text', 'json']),
    default: 'text',
    sentence: 'Format of the report.',
  },
  allowUnknown: {
    title: 'unknown allowed',
    flag: '--allow-unknown',
    format: boolean,
    default: 'false',
    sentence: 'Exits with 0 even if something could not be checked, for example for lack of rights.',
  },
} as const satisfies SettingsTable

/** The settings of `takeover plan`, besides the settings of `serve`. */
export const takeoverPlanSettings = {
  output: { ...doctorSettings.output, sentence: 'Format of the plan.' },
  write: {
    title: 'folder for files',
    flag: '--write',
    format: text('folder'),
    unset: 'none',
    sentence:
      'Writes a new folder that only you can read, with values.yaml for the chart and secret.yaml, the manifest of the Secret that the chart reads. The latter holds the token: delete it after `kubectl create -f`.',
  },
} as const satisfies SettingsTable

/** The settings of `install` from flags, environment and the configuration file of `serve`. */
export function readInstallSettings(sources: Pick<Sources, 'flags' | 'env'>): InstallSettings {
  const { path } = resolveSettings({ path: installSettings.cloudConfig }, sources).values
  const file = path === undefined ? undefined : readSettingsFile(path)
  return resolveSettings(installSettings, { ...sources, file }).values
}

export type InstallSettings = ValuesOf<typeof installSettings>
/** Flags of `serve` take precedence over the settings that are found in the cluster. */
export type DoctorSettings = ValuesOf<typeof doctorSettings> & { flags: Record<string, string> }
/** Flags of `serve` take precedence over what the predecessor's settings say. */
export type TakeoverPlanSettings = ValuesOf<typeof takeoverPlanSettings> & { flags: Record<string, string> }
export type CleanupSettings = ValuesOf<typeof cleanupSettings>
