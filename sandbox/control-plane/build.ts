// Gets etcd, kube-apiserver, kube-controller-manager and kubectl, once for each version, and prints the folder with the
// programs. The programs that envtest uses are downloaded as released, and the rest is built from the Go module in this
// folder. Call it as `make control-plane`.
import { type BuildOptions, type GoProgram, goPrograms } from '../go-programs.ts'
import { join } from 'node:path'
import type { Archive } from '../released-programs.ts'

/** The version of Kubernetes that go.mod pins here, and in ../node. */
export const kubernetesVersion = 'v1.36.3'
const [major, minor] = kubernetesVersion.slice(1).split('.')

/**
 * The programs that the first Service needs. etcd 3.5.13 is the first whose watches report their progress as API servers
 * expect.
 */
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

const kubeProxy: GoProgram = {
  name: 'kube-proxy',
  package: 'k8s.io/kubernetes/cmd/kube-proxy',
  built: 'kube-proxy',
}

/**
 * The programs that envtest downloads. Source: envtest-releases.yaml of kubernetes-sigs/controller-tools. Its Kubernetes
 * may be some patches older than the one that we compile.
 */
const released = {
  version: 'v1.36.2',
  sha512: {
    x64: 'ea743186c8a799f5cf8faf16969f86189d003cb7d130e0ac4b58789f1e5748dcf30ebe91c837a10d5ac415383da3e10b9e64d65785c938c23e739781cfb76f08',
    arm64:
      '2d72ee985a8e262a3c57dc9f7f0fd891f6a8c7bf7ebaa2db6dc6d8eac8ae28181afe51c1f368b67756cdb40b10de9b205609e1726e5f27f7c6d824dd9c6649ac',
  },
}

function releasedArchive(): Archive | undefined {
  const { arch, platform } = process
  if (platform !== 'linux' || (arch !== 'x64' && arch !== 'arm64')) return undefined
  const name = `envtest-${released.version}`
  const file = `${name}-linux-${arch === 'x64' ? 'amd64' : 'arm64'}.tar.gz`
  return {
    url: `https://github.com/kubernetes-sigs/controller-tools/releases/download/${name}/${file}`,
    sha512: released.sha512[arch],
    folder: 'controller-tools/envtest',
    programs: ['etcd', 'kube-apiserver', 'kubectl'],
  }
}

/** The flags that compile Kubernetes' programs so that each reports its version. */
export const kubernetesFlags = [
  '-trimpath',
  '-ldflags',
  `-s -w ${Object.entries({ gitVersion: kubernetesVersion, gitMajor: major, gitMinor: minor })
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`)
    .join(' ')}`,
]

/**
 * Returns the folder with the four programs. Those that are missing are downloaded, or compiled in minutes. Programs in the
 * folder that KUBEBUILDER_ASSETS names are used instead, and an installed etcd or kubectl that fits.
 */
export function controlPlanePrograms(options?: BuildOptions): Promise<string> {
  return programs([...apiServer, controllerManager], options)
}

/** The same without kube-controller-manager: an API server can start without it. */
export function apiServerPrograms(options?: BuildOptions): Promise<string> {
  return programs(apiServer, options)
}

/** Returns the kube-proxy of the same version, for tests that send packets to nodes. */
export async function kubeProxyProgram(options?: BuildOptions): Promise<string> {
  const takes = 'a minute on 2 cores, or five if kube-apiserver was downloaded'
  const name = 'kube-proxy'
  const dir = import.meta.dirname
  const folder = await goPrograms(
    { name, version: kubernetesVersion, dir, programs: [kubeProxy], flags: kubernetesFlags, takes },
    options,
  )
  return join(folder, name)
}

function programs(wanted: GoProgram[], options?: BuildOptions): Promise<string> {
  const { KUBEBUILDER_ASSETS: assets } = process.env
  const dir = import.meta.dirname
  const takes = 'about 5 minutes on 2 cores'
  const archive = releasedArchive()
  return goPrograms(
    {
      name: 'control-plane',
      version: kubernetesVersion,
      dir,
      programs: wanted,
      flags: kubernetesFlags,
      assets,
      archive,
      takes,
    },
    options,
  )
}

if (import.meta.main) console.log(await controlPlanePrograms())
