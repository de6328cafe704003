import type { KubeClient } from '../kube/client.ts'
import { ownNamespaceIn } from '../inspect/own-deployments.ts'
import { namespaces } from '../kube/resource.ts'
import { names } from '../settings/installed-names.ts'
import { type Configurations, readConfigurations } from '../webhooks/webhook-probe.ts'
import { type InstallSettings, installSettings } from './settings/commands.ts'

type Release = { name: string; namespace: string }

/** The Helm release that the webhook configurations belong to. */
export function helmRelease({ mutating, validating }: Configurations): Release | undefined {
  const annotations = { ...mutating?.metadata.annotations, ...validating?.metadata.annotations }
  const name = annotations['meta.helm.sh/release-name']
  const namespace = annotations['meta.helm.sh/release-namespace']
  return name === undefined || namespace === undefined ? undefined : { name, namespace }
}

/** The command that upgrades an installation by Helm. */
export function helmUpgrade({ name, namespace }: Release): string {
  return `helm upgrade ${name} manifests/chart --namespace ${namespace} --reset-then-reuse-values`
}

/** The flag for an installation whose `serve` runs outside the cluster, read from the webhook configurations. */
export function urlFlag(found: Configurations): string | undefined {
  const entries = Object.values(found).flatMap((configuration) => configuration?.webhooks ?? [])
  const [origin] = entries.flatMap(({ clientConfig }) => URL.parse(clientConfig.url ?? '')?.origin ?? [])
  return origin === undefined ? undefined : `${installSettings.webhookUrl.flag}=${origin}`
}

/**
 * The namespace of the installation to which the cluster-wide objects belong; undefined if there is none, or if its
 * namespace is deleted. Each cluster-wide role has one account, whether the webhooks are called by URL or by Service.
 */
async function readOwner(client: KubeClient): Promise<string | undefined> {
  const owner = await ownNamespaceIn(client)
  if (owner === undefined) return undefined
  return (await client.get(namespaces, { name: owner })) === undefined ? undefined : owner
}

/** The parts of an installation that a cluster has. */
export type Installed = { configurations: Configurations; owner: string | undefined }

/** Reads the parts of an installation that a cluster has. */
export async function readInstalled(client: KubeClient): Promise<Installed> {
  const [configurations, owner] = await Promise.all([readConfigurations(client), readOwner(client)])
  return { configurations, owner }
}

/** Why `install` would break the installation that a cluster has, and what to type instead. */
export function installRefusal(
  { configurations, owner }: Installed,
  { webhookUrl, overwrite, namespace }: Pick<InstallSettings, 'webhookUrl' | 'overwrite' | 'namespace'>,
): string | undefined {
  if (overwrite) return undefined
  const { flag } = installSettings.overwrite
  const release = helmRelease(configurations)
  if (release)
    return (
      `nothing was changed: Helm installed eip-admission in this cluster, as release ${release.name} of namespace ` +
      `${release.namespace}, and install would overwrite what its release has set. Run:\n` +
      `  ${helmUpgrade(release)}\nTo overwrite the objects of the release instead, add ${flag}.`
    )
  const url = urlFlag(configurations)
  if (owner !== undefined && owner !== namespace) return otherNamespace({ owner, url }, namespace)
  if (url === undefined || webhookUrl !== undefined) return undefined
  return (
    `nothing was changed: this cluster was installed with ${url}. Without it the API server would call the Service ` +
    `${namespace}/${names.webhookService}. Run, with the other flags of the first install too:\n` +
    `  eip-admission install ${url}\nTo call that Service instead, add ${flag}.`
  )
}

function otherNamespace({ owner, url }: { owner: string; url: string | undefined }, namespace: string): string {
  const { namespace: setting } = installSettings
  const ofNamespace = owner === setting.default ? '' : ` ${setting.flag}=${owner}`
  return (
    `nothing was changed: eip-admission is installed in namespace ${owner}, and a cluster can have only one installation. Its ` +
    `webhooks and its rights would become those of namespace ${namespace}, and the pods in ${owner} would lose theirs. ` +
    `Run, with the other flags of the first install too:\n  eip-admission install${ofNamespace}${url === undefined ? '' : ` ${url}`}\n` +
    `To move the installation to ${namespace} instead, stop it in ${owner} first, and add ${installSettings.overwrite.flag}.`
  )
}
