import { readerOf } from '../../inspect/reader.ts'
import { type GivenSettings, dataReader, readGivenSettings, refText } from '../../inspect/given-settings.ts'
import { listOwnDeployments, ownContainer, ownLabel } from '../../inspect/own-deployments.ts'
import { cloudChoice } from '../../clouds/cloud-choice.ts'
import type { KubeClient } from '../../kube/client.ts'
import { keyOf } from '../../kube/objects.ts'
import type { Workload } from '../../kube/workloads.ts'
import { firstItems } from '../../lib/text.ts'
import { certificates } from '../../settings/certificates.ts'
import { common } from '../../settings/common.ts'
import { parseSettingsFile } from '../../settings/file.ts'
import { apiServer, kubeconfig, ownNamespace } from '../../settings/process.ts'
import type { Setting } from '../../settings/setting.ts'
import { statusPageSettings } from '../../settings/status-page.ts'
import { webhookClient } from '../../settings/webhook-client.ts'
import { type ServeSettings, serveSections, serveSettings } from '../settings/serve.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The settings of `serve`, the environment that they come from, and the objects that hold them. */
export type FoundSettings = { settings: ServeSettings; env: Env; places: string[] }

/** Whether the settings of `serve` are given, so that the cluster is not searched for them. */
export function areGiven(flags: Readonly<Record<string, string>>): boolean {
  return flags[cloudChoice.dialect.flag] !== undefined
}

/**
 * The settings of the `serve` that runs in the cluster, from its Deployment, Secrets and ConfigMaps. Flags take
 * precedence over them.
 */
export async function findSettings(
  client: KubeClient,
  { flags, env }: { flags: Readonly<Record<string, string>>; env: Env },
): Promise<FoundSettings> {
  const reader = readerOf(client)
  const found = (await listOwnDeployments(reader)).toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  const [object] = found
  if (new Set(found.map(({ metadata }) => metadata.namespace)).size > 1) throw new Error(severalText(found))
  const container = object && ownContainer([object])
  if (!object || !container) throw new Error(notFound)
  const given = await readGivenSettings({ object, container }, dataReader(reader), repeated)
  const where = `Deployment ${keyOf(object)}`
  if (given.unread.length > 0) throw new Error(unreadText(where, given.unread))
  const places = [where, ...(given.file ? [refText(given.file.ref)] : [])]
  return { ...ownSettings(object, given, { flags, env }), places }
}

const byHand =
  'give doctor the flags and the environment of `serve`: `eip-admission doctor --cloud-provider=NAME --cloud-config=FILE`'

const notFound =
  `this cluster has no Deployment with the label ${ownLabel}. Install eip-admission first; if \`serve\` runs ` +
  `elsewhere, ${byHand}`

/** The error for several Deployments with our label, if the person may not see which one has the rights. */
function severalText(found: readonly Workload[]): string {
  const all = firstItems(found.map(keyOf)).join(' and ')
  return (
    `Deployments ${all} have the label ${ownLabel}, and no ClusterRoleBinding that you may read says which one is the ` +
    `installation. Run doctor as a user who may get ClusterRoleBindings, or ${byHand}`
  )
}

function unreadText(where: string, unread: GivenSettings['unread']): string {
  const reasons = unread.map(({ where: place, what }) => `${place} ${what}`).join('; ')
  const right = unread.some(({ isForbidden }) => isForbidden) ? 'Run doctor as a user who may read it, or' : 'Or'
  return `the settings of ${where} could not be read: ${reasons}. ${right} ${byHand}`
}

const rows = serveSections.flatMap(({ table }): Setting<unknown>[] => Object.values(table))
const repeated = new Set(rows.flatMap(({ flag, format }) => (format.repeats && flag ? [flag] : [])))

/** Settings of the pod itself, which name its files or its path to the API server. */
const ofThePod = new Set(
  [
    { kubeconfig, apiServer, cloudConfig: cloudChoice.cloudConfig, manifest: common.loadBalancerManifest },
    statusPageSettings,
    webhookClient,
    certificates,
  ]
    .flatMap((table): Setting<unknown>[] => Object.values(table))
    .flatMap(({ flag, aliases = [], env }) => [flag, ...aliases, env]),
)

function ownSettings(
  { metadata: { namespace } }: Workload,
  given: GivenSettings,
  { flags, env: own }: { flags: Readonly<Record<string, string>>; env: Env },
): Pick<FoundSettings, 'settings' | 'env'> {
  const isKept = (name: string) => !ofThePod.has(name)
  const variables = given.env.filter(({ name }) => isKept(name)).map(({ name, value }) => [name, value] as const)
  const env = { [ownNamespace.env]: namespace, ...Object.fromEntries(variables) }
  const ofDeployment = Object.fromEntries(Object.entries(given.flags).filter(([flag]) => isKept(flag)))
  const { file } = given
  return {
    settings: serveSettings({
      flags: { ...ofDeployment, ...flags },
      env: { ...env, [kubeconfig.env]: own[kubeconfig.env], [apiServer.env]: own[apiServer.env] },
      file: file && parseSettingsFile(refText(file.ref), file.text),
    }),
    env,
  }
}
