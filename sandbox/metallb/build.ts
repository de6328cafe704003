// Builds MetalLB's controller and speaker from the module of a version, and takes its resource definitions from there.
import { execFile } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { goPrograms } from '../go-programs.ts'

/** The newest, the last ones of their time, and one that is configured by a ConfigMap; each has a folder here. */
export const metallbVersions = ['0.16.1', '0.15.2', '0.14.9', '0.13.12', '0.11.0'] as const
export type MetallbVersion = (typeof metallbVersions)[number]

/** What MetalLB has to be told of Kubernetes, as its authors ship it: `crds` a folder, `webhooks` a file. */
export type MetallbPrograms = { controller: string; speaker: string; crds: string; webhooks: string }

/**
 * The programs of a version, built if they are not yet: a minute or two the first time, nothing after.
 * Those in the folder named by METALLB_ASSETS, below it in one named after the version, are used instead.
 */
export async function metallbPrograms(version: MetallbVersion): Promise<MetallbPrograms> {
  const dir = join(import.meta.dirname, version)
  const { METALLB_ASSETS: assets } = process.env
  const folder = await goPrograms({
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
    add: (into) => takeDefinitions(dir, into),
  })
  const at = (name: string) => join(folder, name)
  return { controller: at('controller'), speaker: at('speaker'), crds: at('crds'), webhooks: at('webhooks.yaml') }
}

/** Takes what lies in the module's source; the versions of the ConfigMap have none of it. */
async function takeDefinitions(dir: string, into: string): Promise<void> {
  const args = ['mod', 'download', '-json', 'go.universe.tf/metallb']
  const { stdout } = await promisify(execFile)('go', args, { cwd: dir })
  const { Dir: source } = JSON.parse(stdout) as { Dir: string }
  mkdirSync(join(into, 'crds'))
  // Read and written, not copied: files and folders of the module cache may not be written to, nor could copies.
  const take = (from: string, to: string) => writeFileSync(join(into, to), readFileSync(join(source, 'config', from)))
  for (const file of globSync('config/crd/bases/*.yaml', { cwd: source }))
    take(join('crd/bases', basename(file)), join('crds', basename(file)))
  if (existsSync(join(source, 'config/webhook/manifests.yaml'))) take('webhook/manifests.yaml', 'webhooks.yaml')
}
