import type { KubeClient } from '../kube/client.ts'
import type { Discovery } from '../kube/discovery.ts'
import type { KubeObject } from '../kube/objects.ts'
import { type ManifestPart, manifestRights } from '../manifests/manifest-rights.ts'
import { customResourceDefinitions } from '../manifests/resources.ts'
import { readManifest } from '../kube/manifest-file.ts'
import type { InstallSettings } from './settings/commands.ts'
import { manifestProblem } from '../settings/manifest.ts'
import { SettingsError } from '../settings/problems.ts'

type Deps = { connected: () => KubeClient & Discovery; print: (text: string) => void }

/** The rights to apply the manifest of the settings, if they name one. Reads the kinds that the API server serves. */
export async function manifestObjects(
  { loadBalancerManifest: path, namespace }: InstallSettings,
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
  return `has an object that the process gets no right to apply: ${problem}`
}

type Definition = KubeObject & {
  spec?: { group?: string; scope?: string; names?: { kind?: string; plural?: string } }
}

/** The resource of a kind that the manifest itself defines: the API server does not know it yet. */
function definedIn(manifest: KubeObject[], { apiVersion, kind }: KubeObject): ManifestPart['resource'] | undefined {
  const specs = manifest
    .filter((one) => one.kind === customResourceDefinitions.kind)
    .map(({ spec }: Definition) => spec)
  const found = specs.find((spec) => spec?.names?.kind === kind && apiVersion.startsWith(`${spec.group}/`))
  const { plural } = found?.names ?? {}
  return plural === undefined ? undefined : { plural, namespaced: found?.scope === 'Namespaced' }
}
