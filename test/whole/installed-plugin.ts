import { mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

/** Installs the plugin for every kubectl of this process, as npm does it: links in a folder of PATH. */
export function installPlugin({ dir }: { dir: string }): void {
  const bin = join(dir, 'bin')
  mkdirSync(bin)
  for (const name of ['kubectl-eip', 'kubectl_complete-eip'])
    symlinkSync(join(import.meta.dirname, '..', '..', 'packaging', `${name}.mjs`), join(bin, name))
  process.env['PATH'] = [bin, dirname(process.execPath), process.env['PATH']].join(delimiter)
}
