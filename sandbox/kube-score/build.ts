// Builds kube-score from the Go module in this folder, once.
import { join } from 'node:path'
import { goPrograms } from '../go-programs.ts'

/** Returns the path of kube-score, which judges manifests, and builds it if it is missing. */
export async function kubeScoreProgram(): Promise<string> {
  const folder = await goPrograms({
    name: 'kube-score',
    version: 'v1.20.0',
    dir: import.meta.dirname,
    programs: [{ name: 'kube-score', package: 'github.com/zegl/kube-score/cmd/kube-score', built: 'kube-score' }],
    flags: ['-trimpath', '-ldflags', '-s -w'],
    takes: 'half a minute on 2 cores',
  })
  return join(folder, 'kube-score')
}

if (import.meta.main) console.log(await kubeScoreProgram())
