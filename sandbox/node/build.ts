// Builds what a node runs, what assigns pods to nodes, and what the pods of Kubernetes' own tests run, once. The module in
// this folder pins the libraries of ../control-plane, so that the compiler's cache serves both.
import { kubernetesFlags, kubernetesVersion } from '../control-plane/build.ts'
import { goPrograms } from '../go-programs.ts'

const packages = ['cmd/kubelet', 'cmd/kube-scheduler', 'test/images/agnhost']

/** Returns the folder with kubelet, kube-scheduler and agnhost, and builds them if they are missing. */
export function nodePrograms(): Promise<string> {
  return goPrograms({
    name: 'node',
    version: kubernetesVersion,
    dir: import.meta.dirname,
    programs: packages.map((path) => {
      const name = path.slice(path.lastIndexOf('/') + 1)
      return { name, package: `k8s.io/kubernetes/${path}`, built: name }
    }),
    flags: kubernetesFlags,
    takes: 'three minutes on 2 cores, or eight if kube-apiserver was downloaded',
  })
}

if (import.meta.main) console.log(await nodePrograms())
