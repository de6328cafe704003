import type { Configurations } from '../../webhooks/webhook-probe.ts'
import { chartValuesOf } from '../../announcers/object-rights.ts'
import { common } from '../../settings/common.ts'
import { leaderElection } from '../../settings/leader-election.ts'
import { ownNamespace } from '../../settings/process.ts'
import { installSettings } from '../settings/commands.ts'
import { helmRelease, helmUpgrade, urlFlag } from '../installed.ts'
import { placedText } from '../../announcers/setting.ts'
import { shellWord } from '../../lib/text.ts'
import type { Command } from '../../lib/remedy.ts'
import type { Context } from '../../inspect/facts.ts'

/** The command that installs what is missing, as this cluster was installed: by the chart, or with these settings. */
export function installRemedy(
  webhooks: Configurations,
  { settings, vendor }: Pick<Context, 'settings' | 'vendor'>,
): Command {
  const release = helmRelease(webhooks)
  if (release)
    return { command: [helmUpgrade(release), ...chartValuesOf(vendor).map((value) => `--set ${value}`)].join(' ') }
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
  const words = given.map(([{ flag }, value]) => shellWord(`${flag}=${value}`))
  // `install` refuses an installation outside the cluster without its URL.
  const url = urlFlag(webhooks) ?? []
  const command = ['eip-admission install', url, words].flat().join(' ')
  return { command, ...doubt(webhooks, namespace) }
}

/** Warns if both webhook configurations are deleted: only they show a URL or the chart, so the person must know. */
function doubt({ mutating, validating }: Configurations, namespace: string): { text?: string } {
  if (mutating ?? validating) return {}
  const upgrade = helmUpgrade({ name: 'RELEASE', namespace })
  const { flag } = installSettings.webhookUrl
  return { text: `with ${flag} where serve runs outside the cluster; if Helm installed it, instead: \`${upgrade}\`` }
}
