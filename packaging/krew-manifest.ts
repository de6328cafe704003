// Prints the manifest by which krew installs kubectl-eip: node packaging/krew-manifest.ts eip-admission-1.2.3.tgz
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { stringify } from 'yaml'
import manifest from '../package.json' with { type: 'json' }
import { repository } from '../settings/installed-names.ts'

/** The manifest of the plugin for krew, from the package that the release has. */
export function krewManifest(file: string): object {
  const { version } = manifest
  const platform = {
    selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }] },
    uri: `${repository}/releases/download/v${version}/${basename(file)}`,
    sha256: createHash('sha256').update(readFileSync(file)).digest('hex'),
    // npm puts the files of a package into a folder of this name.
    bin: 'package/packaging/kubectl-eip.mjs',
  }
  return {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'eip' },
    spec: {
      version: `v${version}`,
      homepage: repository,
      shortDescription: 'Show and manage the public addresses of Services',
      description:
        'Shows why a Service has or lacks its public address, and keeps, moves and releases addresses of eip-admission.',
      caveats: `Needs Node ${manifest.engines.node.replace('>=', '')} or newer in PATH, and eip-admission in the cluster.`,
      platforms: [platform],
    },
  }
}

if (import.meta.main) console.log(stringify(krewManifest(process.argv[2] ?? ''), { lineWidth: 0 }).trimEnd())
