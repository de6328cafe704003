// Builds etcd, kube-apiserver, kube-controller-manager and kubectl from the module beside this file, once a version.
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
 * The folder with the four programs, built there if they are not yet: minutes the first time, nothing after.
 * Programs in the folder named by KUBEBUILDER_ASSETS are used instead of building them.
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
