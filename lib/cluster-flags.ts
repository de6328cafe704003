import { shellWord } from './shell-word.ts'

/** By which flags a person named a cluster. Where one is undefined, programs find the same by themselves. */
export type ClusterFlags = { kubeconfig?: string | undefined; context?: string | undefined }

/** Where a command begins in a text: alone in its line or column, or after what a shell or a sentence puts before one. */
const commands =
  /(?<=^ *| {2}|[:;?] |&& |\| |\$\(|`|\d\. |\brun )(kubectl eip [a-z]+|kubectl(?! eip\b)|helm|eip-admission (?:install|cleanup|doctor|takeover [a-z]+))(?=[ ;,`]|$)/gm

/**
 * The text with commands for the cluster of these flags. Without them they would change the cluster that the person's kubectl
 * happens to be set to.
 */
export function carryClusterFlags(text: string, flags: ClusterFlags): string {
  return text.replaceAll(commands, (program: string) => [program, ...flagsOf(program, flags).map(shellWord)].join(' '))
}

/** The flags for a kubeconfig that a setting names: every program also finds what the environment names. */
export function kubeconfigFlags(
  kubeconfig: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): ClusterFlags {
  return { kubeconfig: kubeconfig === env['KUBECONFIG'] ? undefined : kubeconfig }
}

function flagsOf(program: string, { kubeconfig, context }: ClusterFlags): string[] {
  const [first] = program.split(' ', 1)
  // It takes no context. So that nothing is changed elsewhere, this names no file until a person does.
  if (first === 'eip-admission' && context !== undefined)
    return [`--kubeconfig=<a file with the current context ${context}>`]
  return [
    ...(kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`]),
    ...(context === undefined ? [] : [`--${first === 'helm' ? 'kube-context' : 'context'}=${context}`]),
  ]
}
