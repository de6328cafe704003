import { type Configurations, installCommand } from '../../webhooks/probe-problem.ts'
import { common } from '../../settings/common.ts'
import { leaderElection } from '../../settings/leader-election.ts'
import { ownNamespace } from '../../settings/process.ts'
import type { Context } from '../../inspect/facts.ts'

/** The command that installs what is missing, as this cluster was installed: by the chart, or with these settings. */
export function installRemedy(webhooks: Configurations, { settings }: Pick<Context, 'settings'>): string {
  const release = helmRelease(webhooks)
  if (release) return `helm upgrade ${release.name} CHART --namespace ${release.namespace} --reset-then-reuse-values`
  const { namespace, leaseName, leaseNamespace } = settings.process
  const flags = [
    [common.loadBalancerClasses, settings.cluster.loadBalancerClasses.join(',')],
    [ownNamespace, namespace],
    [leaderElection.leaseNamespace, leaseNamespace],
    [leaderElection.leaseName, leaseName],
  ] as const
  const given = flags.filter(([setting, value]) => value !== setting.default)
  return [installCommand(webhooks), ...given.map(([{ flag }, value]) => `${flag}=${value}`)].join(' ')
}

function helmRelease({ mutating, validating }: Configurations): { name: string; namespace: string } | undefined {
  const annotations = { ...mutating?.metadata.annotations, ...validating?.metadata.annotations }
  const name = annotations['meta.helm.sh/release-name']
  const namespace = annotations['meta.helm.sh/release-namespace']
  return name === undefined || namespace === undefined ? undefined : { name, namespace }
}
