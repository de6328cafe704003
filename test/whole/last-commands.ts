import type { Kubectl } from '../../sandbox/kubectl.ts'

/** A kubectl that remembers its last commands and their output, for the message of a failure. */
export function recordedKubectl(kubectl: Kubectl, keep = 4): { kubectl: Kubectl; lastCommands: () => string } {
  const last: string[] = []
  return {
    kubectl: async (args, manifest) => {
      const result = await kubectl(args, manifest)
      const { code, stdout, stderr } = result
      const printed = [stdout, stderr].map((text) => shortened(text)).filter((text) => text !== '')
      last.push([`kubectl ${args.join(' ')}: exit ${code}`, ...printed].join('\n'))
      if (last.length > keep) last.shift()
      return result
    },
    lastCommands: () => last.join('\n'),
  }
}

function shortened(text: string, max = 1_500): string {
  const whole = text.trim()
  return whole.length <= max ? whole : `${whole.slice(0, max)}... (${whole.length} characters)`
}
