// Builds etcd, kube-apiserver, kube-controller-manager and kubectl from the Go module in this folder, once for each
// version, and prints the folder with the programs. Call it as `make control-plane`.
import { type BuildOptions, type GoProgram, goPrograms } from '../go-programs.ts'

const kubernetesVersion = 'v1.36.3'
const [major, minor] = kubernetesVersion.slice(1).split('.')

/** What the first Service needs. etcd 3.5.13 is the first whose watches report their progress as API servers expect. */
const apiServer: GoProgram[] = [
  {
    name: 'etcd',
    package: 'go.etcd.io/etcd/server/v3',
    built: 'server',
    installed: { args: ['--version'], pattern: /etcd Version: (\S+)/, from: '3.5.13' },
  },
  { name: 'kube-apiserver', package: 'k8s.io/kubernetes/cmd/kube-apiserver', built: 'kube-apiserver' },
  {
    name: 'kubectl',
    package: 'k8s.io/kubernetes/cmd/kubectl',
    built: 'kubectl',
    installed: {
      args: ['version', '--client'],
      pattern: /Client Version: v(\S+)/,
      // kubectl works with API servers that are one minor version older or newer.
      from: `${major}.${Number(minor) - 1}.0`,
      below: `${major}.${Number(minor) + 2}.0`,
    },
  },
]

const controllerManager: GoProgram = {
  name: 'kube-controller-manager',
  package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
  built: 'kube-controller-manager',
}

const flags = [
  '-trimpath',
  '-ldflags',
  `-s -w ${Object.entries({ gitVersion: kubernetesVersion, gitMajor: major, gitMinor: minor })
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ')}`,
]

/**
 * Returns the folder with the four programs, and builds those that are missing: minutes the first time. Programs in the
 * folder that KUBEBUILDER_ASSETS names are used instead, and an installed etcd or kubectl that fits.
 */
export function controlPlanePrograms(options?: BuildOptions): Promise<string> {
  return programs([...apiServer, controllerManager], options)
}

/** The same without kube-controller-manager: an API server can start without it. */
export function apiServerPrograms(options?: BuildOptions): Promise<string> {
  return programs(apiServer, options)
}

function programs(wanted: GoProgram[], options?: BuildOptions): Promise<string> {
  const { KUBEBUILDER_ASSETS: assets } = process.env
  const dir = import.meta.dirname
  const takes = 'about 4 minutes on 2 cores'
  return goPrograms(
    { name: 'control-plane', version: kubernetesVersion, dir, programs: wanted, flags, assets, takes },
    options,
  )
}

if (import.meta.main) console.log(await controlPlanePrograms())
