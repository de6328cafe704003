// Builds MetalLB's controller and speaker from the Go module of a version, and copies the resource definitions of it.
import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { type BuildOptions, goPrograms } from '../go-programs.ts'

/** The newest version, the last of earlier series, and one that reads a ConfigMap; each has a folder here. */
export const metallbVersions = ['0.16.1', '0.15.2', '0.14.9', '0.13.12', '0.11.0'] as const
export type MetallbVersion = (typeof metallbVersions)[number]

/** The programs, and what a cluster needs for them: `crds` is a folder of definitions, `webhooks` a manifest file. */
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

/** Copies the manifests of the module's source; versions that read a ConfigMap have none. */
async function copyDefinitions(dir: string, into: string): Promise<void> {
  const args = ['mod', 'download', '-json', 'go.universe.tf/metallb']
  const { stdout } = await promisify(execFile)('go', args, { cwd: dir })
  const { Dir: source } = JSON.parse(stdout) as { Dir: string }
  mkdirSync(join(into, 'crds'))
  // Reads and writes instead of copying: the module cache is read-only, and a copy would keep its mode.
  const copy = (from: string, to: string) => writeFileSync(join(into, to), readFileSync(join(source, 'config', from)))
  for (const file of globSync('config/crd/bases/*.yaml', { cwd: source }))
    copy(join('crd/bases', basename(file)), join('crds', basename(file)))
  if (existsSync(join(source, 'config/webhook/manifests.yaml'))) copy('webhook/manifests.yaml', 'webhooks.yaml')
}
