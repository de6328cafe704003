import { type Configurations, installCommand } from '../../webhooks/probe-problem.ts'
import { common } from '../../settings/common.ts'
import { leaderElection } from '../../settings/leader-election.ts'
import { ownNamespace } from '../../settings/process.ts'
import { installSettings } from '../settings/commands.ts'
import { placedText } from '../../announcers/setting.ts'
import { shellWord } from '../../lib/shell-word.ts'
import type { Context } from '../../inspect/facts.ts'

/** The command that installs what is missing, as this cluster was installed: by the chart, or with these settings. */
export function installRemedy(
  webhooks: Configurations,
  { settings, vendor }: Pick<Context, 'settings' | 'vendor'>,
): string {
  const release = helmRelease(webhooks)
  if (release)
    return `helm upgrade ${release.name} manifests/chart --namespace ${release.namespace} --reset-then-reuse-values`
  const { namespace, leaseName, leaseNamespace } = settings.process
  const flags = [
    [common.loadBalancerClasses, settings.cluster.loadBalancerClasses.join(',')],
    [ownNamespace, namespace],
    [leaderElection.leaseNamespace, leaseNamespace],
    [leaderElection.leaseName, leaseName],
    [installSettings.loadBalancer, placedText(vendor.loadBalancer)],
    [common.loadBalancerManifest, settings.cluster.loadBalancerManifest],
  ] as const
  const given = flags.filter(
    ([setting, value]) => value !== undefined && !('default' in setting && value === setting.default),
  )
  return [installCommand(webhooks), ...given.map(([{ flag }, value]) => shellWord(`${flag}=${value}`))].join(' ')
}

function helmRelease({ mutating, validating }: Configurations): { name: string; namespace: string } | undefined {
  const annotations = { ...mutating?.metadata.annotations, ...validating?.metadata.annotations }
  const name = annotations['meta.helm.sh/release-name']
  const namespace = annotations['meta.helm.sh/release-namespace']
  return name === undefined || namespace === undefined ? undefined : { name, namespace }
}
