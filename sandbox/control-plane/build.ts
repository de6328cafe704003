// Builds etcd, kube-apiserver, kube-controller-manager and kubectl from the Go module in this folder, once for each
// version, and prints the folder with the programs. Call it as `make control-plane`.
import { goPrograms } from '../go-programs.ts'

const kubernetesVersion = 'v1.36.3'
const [major, minor] = kubernetesVersion.slice(1).split('.')

const programs = [
  { name: 'etcd', package: 'go.etcd.io/etcd/server/v3', built: 'server' },
  { name: 'kube-apiserver', package: 'k8s.io/kubernetes/cmd/kube-apiserver', built: 'kube-apiserver' },
  {
    name: 'kube-controller-manager',
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
    built: 'kube-controller-manager',
  },
  { name: 'kubectl', package: 'k8s.io/kubernetes/cmd/kubectl', built: 'kubectl' },
]

const flags = [
  '-trimpath',
  '-ldflags',
  `-s -w ${Object.entries({ gitVersion: kubernetesVersion, gitMajor: major, gitMinor: minor })
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ')}`,
]

/**
 * Returns the folder with the four programs, and builds those that are missing: minutes the first time.
 * Programs in the folder that KUBEBUILDER_ASSETS names are used instead.
 */
export function controlPlanePrograms(): Promise<string> {
  return goPrograms({
    name: 'control-plane',
    version: kubernetesVersion,
    dir: import.meta.dirname,
    programs,
    flags,
    assets: process.env.KUBEBUILDER_ASSETS,
    takes: 'about 5 minutes on 2 cores',
  })
}

if (import.meta.main) console.log(await controlPlanePrograms())
