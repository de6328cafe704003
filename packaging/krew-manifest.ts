// Prints the manifest by which krew installs kubectl-eip: node packaging/krew-manifest.ts eip-admission-1.2.3.tgz
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import process from 'node:process'
import { stringify } from 'yaml'

type Package = { version: string; engines: { node: string }; homepage: string }

const root = join(import.meta.dirname, '..')

/** The plugin's manifest for krew, from the release's package. */
function krewManifest(file: string): object {
  const { version, engines, homepage } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Package
  const platform = {
    selector: { matchExpressions: [{ key: 'os', operator: 'In', values: ['linux', 'darwin'] }] },
    uri: `${homepage}/releases/download/v${version}/${basename(file)}`,
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
      homepage,
      shortDescription: 'Show and manage the public addresses of Services',
      description:
        'Shows why a Service has or lacks its public address, and keeps, moves and releases addresses of eip-admission.',
      caveats: `Needs Node ${engines.node.replace('>=', '')} or newer in PATH, and eip-admission in the cluster.`,
      platforms: [platform],
    },
  }
}

process.stdout.write(stringify(krewManifest(process.argv[2] ?? ''), { lineWidth: 0 }))
