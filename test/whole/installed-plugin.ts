import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { cachedBundle } from '../../packaging/cached-bundle.ts'

const packaging = join(import.meta.dirname, '..', '..', 'packaging')

/** Installs the plugin for every kubectl of this process, as npm does it: a package with the bundle, and links in PATH. */
export async function installPlugin({ dir }: { dir: string }): Promise<void> {
  const bundle = await cachedBundle()
  const [bin, installed] = [join(dir, 'bin'), join(dir, 'package')]
  for (const folder of [bin, join(installed, 'packaging'), join(installed, 'dist')])
    mkdirSync(folder, { recursive: true })
  symlinkSync(bundle, join(installed, 'dist', 'bundle'))
  for (const name of ['kubectl-eip', 'kubectl_complete-eip']) {
    const file = join(installed, 'packaging', `${name}.mjs`)
    copyFileSync(join(packaging, `${name}.mjs`), file)
    symlinkSync(file, join(bin, name))
  }
  process.env['PATH'] = [bin, dirname(process.execPath), process.env['PATH']].join(delimiter)
}
