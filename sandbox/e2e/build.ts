// Builds Kubernetes' own tests of the network from the Go module in this folder, once. The module pins the libraries of
// ../node, so that the compiler's cache serves both.
import { join } from 'node:path'
import { kubernetesFlags, kubernetesVersion } from '../control-plane/build.ts'
import { goPrograms } from '../go-programs.ts'

/** Returns the program that runs Kubernetes' own tests of the network, and builds it if it is missing. */
export async function e2eProgram(): Promise<string> {
  const folder = await goPrograms({
    name: 'e2e',
    version: kubernetesVersion,
    dir: import.meta.dirname,
    programs: [{ name: 'e2e', package: '.', built: 'e2e' }],
    flags: kubernetesFlags,
    takes: 'two minutes on 2 cores, or ten if kubelet was not built before',
  })
  return join(folder, 'e2e')
}

if (import.meta.main) console.log(await e2eProgram())
