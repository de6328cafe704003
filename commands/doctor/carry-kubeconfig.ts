import { shellWord } from '../../lib/shell-word.ts'
import type { Result } from './check.ts'

/** Where a command begins in a remedy: at its start, or after what a shell or a sentence puts before one. */
const commands = /(?<=^|: |&& |; |\| |\$\()(kubectl|helm|eip-admission install)(?= |$)/g

/**
 * The results with commands that use this kubeconfig. Without it they would change the cluster that the person's kubectl
 * happens to be set to.
 */
export function carryKubeconfig(results: readonly Result[], file: string): Result[] {
  return results.map((result) => {
    if (result.fix === undefined) return result
    return {
      ...result,
      fix: result.fix.replaceAll(commands, (program) => `${program} ${shellWord(`--kubeconfig=${file}`)}`),
    }
  })
}
