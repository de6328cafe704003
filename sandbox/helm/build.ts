// Builds helm from the Go module in this folder, once.
import { join } from 'node:path'
import { goPrograms } from '../go-programs.ts'

const version = 'v3.22.0'

/** Without these, helm takes itself for a development version and, when it has no cluster, assumes Kubernetes 1.20. */
const variables = {
  'internal/version.version': version,
  'pkg/chartutil.k8sVersionMajor': '1',
  'pkg/chartutil.k8sVersionMinor': '36',
}

const flags = [
  '-trimpath',
  '-ldflags',
  `-s -w ${Object.entries(variables)
    .map(([name, value]) => `-X helm.sh/helm/v3/${name}=${value}`)
    .join(' ')}`,
]

/** Returns the path of helm, and builds it if it is missing: a minute or two the first time. */
export async function helmProgram(): Promise<string> {
  const folder = await goPrograms({
    name: 'helm',
    version,
    dir: import.meta.dirname,
    programs: [{ name: 'helm', package: 'helm.sh/helm/v3/cmd/helm', built: 'helm' }],
    flags,
    assets: process.env.HELM_ASSETS,
    takes: 'a minute or two on 2 cores',
  })
  return join(folder, 'helm')
}

if (import.meta.main) console.log(await helmProgram())
