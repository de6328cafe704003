import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import type { KubeClient } from '../kube/client.ts'
import { connect } from '../kube/connect.ts'
import { kubeconfig } from '../kube/kubeconfig.ts'
import { type KubeObject, keyOf } from '../kube/objects.ts'
import { namespaces } from '../kube/resource.ts'
import { type ObjectRights, announcerRights, givenWhere } from '../announcers/object-rights.ts'
import { kubeconfigFlags, withFlags } from '../lib/remedy.ts'
import { installObjects } from '../manifests/install.ts'
import { names } from '../settings/installed-names.ts'
import { resourceOf } from '../manifests/resources.ts'
import { webhookIdentities } from '../webhooks/webhook.ts'
import { newPathSecret, readPathSecret } from '../webhooks/webhook-path.ts'
import type { InstallSettings } from './settings/commands.ts'
import { type CommandDeps, type StoppableDeps, endWhenStopped } from './command-deps.ts'
import { installRefusal, readInstalled } from './installed.ts'
import type { Discovery } from '../kube/discovery.ts'
import { type ManifestPart, manifestRights } from '../manifests/manifest-rights.ts'
import { readManifest } from '../kube/manifest-file.ts'
import { type Definition, definitions } from '../kube/definitions.ts'
import { manifestProblem } from './settings/serve.ts'
import { SettingsError } from '../settings/problems.ts'

const fieldManager = 'eip-admission-install'

/** Applies the objects that the cluster needs, server-side. It may be repeated at any time, with the same flags. */
export async function install(settings: InstallSettings, deps: StoppableDeps): Promise<void> {
  endWhenStopped(deps, 'stopped before everything was applied; run the command again')
  const refusal = settings.dryRun ? undefined : installRefusal(await readInstalled(clientOf(settings, deps)), settings)
  if (refusal !== undefined) throw new Error(withFlags(refusal, kubeconfigFlags(settings.kubeconfig, deps.env)))
  await applyInstallation(settings, deps)
}

function clientOf({ kubeconfig: file }: Pick<InstallSettings, 'kubeconfig'>, { version }: CommandDeps) {
  return connect(kubeconfig({ file }), { userAgent: `eip-admission/${version}` })
}

/** The settings of an installation that is wanted, whatever the cluster has. */
export type Installation = Omit<InstallSettings, 'overwrite'>

/** Does the work of `install` for a command that handles its own end. */
export async function applyInstallation(settings: Installation, deps: CommandDeps): Promise<void> {
  const { print } = deps
  const connected = () => clientOf(settings, deps)
  if (settings.dryRun) {
    const rights = await manifestObjects(settings, { connected, print: () => {} })
    const documents = [...objectsOf(settings, newPathSecret(), announcerRights(settings)), ...rights].map((object) =>
      stringify(object),
    )
    return print(documents.join('---\n'))
  }
  const rights = await manifestObjects(settings, { connected, print })
  const client = connected()
  const pathSecret = (await readPathSecret(client, settings.namespace)) ?? newPathSecret()
  const announcing = await announcerRightsNow(client, settings, print)
  for (const object of [...objectsOf(settings, pathSecret, announcing), ...rights]) {
    await client.apply(resourceOf(object), object, { fieldManager })
    if (object.kind === definitions.kind) await waitUntilEstablished(client, object)
    print(`applied ${object.kind} ${keyOf(object)}\n`)
  }
  print(nextStep(settings))
}

/** A Role needs its namespace. Until the announcing software has created it, the rights apply in every namespace. */
function announcerRightsNow(client: KubeClient, settings: Installation, print: CommandDeps['print']) {
  return givenWhere(announcerRights(settings), async ({ namespace, what }) => {
    const isThere = (await client.get(namespaces, { name: namespace })) !== undefined
    if (!isThere)
      print(
        `namespace ${namespace} does not exist yet, so the right to ${what} is granted in all namespaces; ` +
          'run the same install again once it exists\n',
      )
    return isThere
  })
}

function objectsOf(settings: Installation, pathSecret: string, announcing: ObjectRights[]): KubeObject[] {
  const { namespace, leaseNamespace, leaseName, webhookUrl: url, loadBalancerClasses: classes } = settings
  const rights = { namespace, leaseNamespace, leaseName, announcing }
  return installObjects({ ...rights, url, classes, pathSecret, webhooks: webhookIdentities })
}

function nextStep({ namespace, webhookUrl }: Installation): string {
  const where =
    webhookUrl === undefined
      ? `as a Deployment in the namespace ${namespace}, with the service account ${names.serviceAccount} and the label ` +
        'app.kubernetes.io/name=eip-admission'
      : `so that the API server reaches it at ${webhookUrl}`
  return `The cluster is ready. Next, run \`eip-admission serve\` ${where}.\n`
}

/** The API server does not serve the kind until its CRD is established. */
async function waitUntilEstablished(client: KubeClient, { metadata: { name } }: KubeObject): Promise<void> {
  for (let tries = 0; tries < 150; tries += 1) {
    const definition = await client.get(definitions, { name })
    if (definition?.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) return
    await sleep(200)
  }
  throw new Error(
    `CustomResourceDefinition ${name} is not established after 30 s; to see why, run \`kubectl describe crd ${name}\``,
  )
}

type Deps = { connected: () => KubeClient & Discovery; print: (text: string) => void }

/** The rights to apply the manifest of the settings, if they name one. Reads the kinds that the API server serves. */
async function manifestObjects(
  { loadBalancerManifest: path, namespace }: Installation,
  { connected, print }: Deps,
): Promise<KubeObject[]> {
  if (path === undefined) return []
  const { objects: manifest, wrong } = readManifest(path)
  if (!manifest) throw new SettingsError([manifestProblem(path, wrong)])
  const client = connected()
  const parts: ManifestPart[] = []
  for (const object of manifest) {
    const resource = definedIn(manifest, object) ?? (await client.resource(object))
    if (resource) parts.push({ object, resource })
    else
      print(`no right for ${object.kind} ${object.metadata.name}: the API server does not serve ${object.apiVersion}\n`)
  }
  const { objects, problems } = manifestRights(parts, { namespace })
  const right = 'correct the file, or apply it yourself'
  const refused = problems.map((problem) => ({ ...manifestProblem(path, refusal(problem)), right }))
  if (refused.length > 0) throw new SettingsError(refused)
  return objects
}

function refusal(problem: string): string {
  return `has an object that the process is not allowed to apply: ${problem}`
}

/** The resource of a kind that the manifest itself defines: the API server does not know it yet. */
function definedIn(manifest: KubeObject[], { apiVersion, kind }: KubeObject): ManifestPart['resource'] | undefined {
  const specs = manifest.filter((one) => one.kind === definitions.kind).map(({ spec }: Definition) => spec)
  const found = specs.find((spec) => spec?.names?.kind === kind && apiVersion.startsWith(`${spec.group}/`))
  const { plural } = found?.names ?? {}
  return plural === undefined ? undefined : { plural, namespaced: found?.scope === 'Namespaced' }
}
