// Builds MetalLB's controller and speaker from the Go module of a version, and copies its CRDs.
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder } from '../cache-folder.ts'
import { copyFromModule } from '../copy-from-module.ts'
import { exclusively } from '../exclusive.ts'
import { type BuildOptions, goPrograms } from '../go-programs.ts'

/** The newest version, the oldest with custom resources, and one that reads a ConfigMap; each has a folder here. */
export const metallbVersions = ['0.16.1', '0.13.12', '0.11.0'] as const

/** The versions in between, which take minutes to build. They run only when METALLB_VERSION names one. */
const versionsByHand = ['0.15.2', '0.14.9'] as const

export type MetallbVersion = (typeof metallbVersions)[number] | (typeof versionsByHand)[number]

/** The version that a person chose instead of the tests' own. */
export function metallbByHand(): MetallbVersion | undefined {
  const { METALLB_VERSION: name = '' } = process.env
  const found = versionsByHand.find((version) => version === name)
  if (name !== '' && found === undefined)
    throw new Error(`METALLB_VERSION=${name}: it can be ${versionsByHand.join(' or ')}`)
  return found
}

/** The programs, and what a cluster needs for them: `crds` is a folder of CRDs, `webhooks` a manifest file. */
export type MetallbPrograms = { controller: string; speaker: string; crds: string; webhooks: string }

/**
 * Returns the programs of a version, and builds those that are missing: a minute or two the first time.
 * Programs in a folder named after the version, in the folder that METALLB_ASSETS names, are used instead.
 */
export async function metallbPrograms(version: MetallbVersion, options?: BuildOptions): Promise<MetallbPrograms> {
  const dir = join(import.meta.dirname, version)
  const { METALLB_ASSETS: assets } = process.env
  const module = {
    name: 'metallb',
    version,
    dir,
    programs: ['controller', 'speaker'].map((name) => ({
      name,
      package: `go.universe.tf/metallb/${name}`,
      built: name,
    })),
    flags: ['-trimpath', '-ldflags', '-s -w'],
    assets: assets && join(assets, version),
    takes: 'a minute or two on 2 cores',
    add: (into: string) => copyDefinitions(dir, into),
  }
  const folder = await goPrograms(module, options)
  const at = (name: string) => join(folder, name)
  return { controller: at('controller'), speaker: at('speaker'), crds: at('crds'), webhooks: at('webhooks.yaml') }
}

/** The folder with the CRDs of a version. If no MetalLB runs, the source of the version is enough. */
export async function metallbDefinitions(version: MetallbVersion): Promise<Pick<MetallbPrograms, 'crds'>> {
  const folder = cacheFolder('metallb-definitions', version)
  const crds = join(folder, 'crds')
  await exclusively(folder, async () => {
    // The folder appears only when it is complete: a killed copy leaves a folder with another name.
    if (existsSync(crds)) return
    const staging = `${folder}.new`
    rmSync(staging, { recursive: true, force: true })
    await copyDefinitions(join(import.meta.dirname, version), staging)
    renameSync(staging, folder)
  })
  return { crds }
}

/** The manifest with which a person installs a version that speaks BGP itself. */
export async function metallbManifest(version: MetallbVersion): Promise<string> {
  const into = cacheFolder('metallb-manifests', version)
  const file = join(into, 'metallb-native.yaml')
  const [pattern, dir] = ['config/manifests/metallb-native.yaml', join(import.meta.dirname, version)]
  if (!existsSync(file)) await copyFromModule({ module: 'go.universe.tf/metallb', dir, pattern, into })
  return file
}

/** Copies the manifests of the module's source; versions that read a ConfigMap have none. */
async function copyDefinitions(dir: string, into: string): Promise<void> {
  const module = 'go.universe.tf/metallb'
  await copyFromModule({ module, dir, pattern: 'config/crd/bases/*.yaml', into: join(into, 'crds') })
  await copyFromModule({ module, dir, pattern: 'config/webhook/manifests.yaml', into })
  if (existsSync(join(into, 'manifests.yaml'))) renameSync(join(into, 'manifests.yaml'), join(into, 'webhooks.yaml'))
}
