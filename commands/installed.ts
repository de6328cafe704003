import type { KubeClient } from '../kube/client.ts'
import { mutatingWebhookConfigurations, validatingWebhookConfigurations } from '../kube/resource.ts'
import { names } from '../settings/installed-names.ts'
import type { Configurations } from '../webhooks/probe-problem.ts'
import { type InstallSettings, installSettings } from './settings/commands.ts'

type Release = { name: string; namespace: string }

/** The release of Helm that the webhook configurations are part of. */
export function helmRelease({ mutating, validating }: Configurations): Release | undefined {
  const annotations = { ...mutating?.metadata.annotations, ...validating?.metadata.annotations }
  const name = annotations['meta.helm.sh/release-name']
  const namespace = annotations['meta.helm.sh/release-namespace']
  return name === undefined || namespace === undefined ? undefined : { name, namespace }
}

/** The command that installs anew what Helm has installed. */
export function helmUpgrade({ name, namespace }: Release): string {
  return `helm upgrade ${name} manifests/chart --namespace ${namespace} --reset-then-reuse-values`
}

/** The flag of an installation whose `serve` runs outside the cluster, as the webhook configurations show it. */
export function urlFlag(found: Configurations): string | undefined {
  const entries = Object.values(found).flatMap((configuration) => configuration?.webhooks ?? [])
  const [origin] = entries.flatMap(({ clientConfig }) => URL.parse(clientConfig.url ?? '')?.origin ?? [])
  return origin === undefined ? undefined : `${installSettings.webhookUrl.flag}=${origin}`
}

/** The webhook configurations of a cluster. */
export async function readConfigurations(client: KubeClient): Promise<Configurations> {
  const [mutating, validating] = await Promise.all([
    client.get(mutatingWebhookConfigurations, { name: names.mutatingConfiguration }),
    client.get(validatingWebhookConfigurations, { name: names.validatingConfiguration }),
  ])
  return { mutating, validating }
}

/** Why `install` would break the installation that a cluster has, and what to type instead. */
export function installRefusal(
  found: Configurations,
  { webhookUrl, overwrite, namespace }: Pick<InstallSettings, 'webhookUrl' | 'overwrite' | 'namespace'>,
): string | undefined {
  if (overwrite) return undefined
  const { flag } = installSettings.overwrite
  const release = helmRelease(found)
  if (release)
    return (
      `nothing was changed: Helm installed eip-admission in this cluster, and install would set back what its release has set. Run:\n` +
      `  ${helmUpgrade(release)}\nTo overwrite the objects of the release instead, add ${flag}.`
    )
  const url = urlFlag(found)
  if (url === undefined || webhookUrl !== undefined) return undefined
  return (
    `nothing was changed: this cluster was installed with ${url}. Without it the API server would call the Service ` +
    `${namespace}/${names.webhookService}. Run, with the other flags of the first install too:\n` +
    `  eip-admission install ${url}\nTo have that Service called instead, add ${flag}.`
  )
}
