import type { Service } from '../../kube/objects.ts'
import type { Kubectl, KubectlResult } from '../../sandbox/kubectl.ts'

/** kubectl commands that have to succeed. */
export type CheckedKubectl = {
  /** Runs `kubectl <verb> -f - -o json` and returns the object that it prints. */
  send(verb: string[], manifest: object): Promise<Service>
  create(manifest: object): Promise<Service>
  /** Runs any command and returns what it prints. */
  run(...args: string[]): Promise<string>
}

const verbsOfFiles = ['create', 'apply', 'replace']

/**
 * Makes a kubectl that does not compare manifests with the schemas. To do so it would read those of the whole API each
 * time, which takes as much processor time as the command itself.
 */
export function withoutSchemas(kubectl: Kubectl): Kubectl {
  return (args, manifest) => {
    const comparesWithSchemas = verbsOfFiles.includes(args[0] ?? '') && args.includes('-f') && !args.includes('--raw')
    return kubectl(comparesWithSchemas ? [...args, '--validate=ignore'] : args, manifest)
  }
}

/** Throws for a command that fails, with the command and what it printed. */
export function checkedKubectl(kubectl: Kubectl): CheckedKubectl {
  const send: CheckedKubectl['send'] = async (verb, manifest) => {
    const args = [...verb, '-f', '-', '-o', 'json']
    return JSON.parse(succeeded(args, await kubectl(args, manifest))) as Service
  }
  return {
    send,
    create: (manifest) => send(['create'], manifest),
    run: async (...args) => succeeded(args, await kubectl(args)),
  }
}

function succeeded(args: string[], { code, stdout, stderr }: KubectlResult): string {
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: exit ${code}\n${stdout}${stderr}`)
  return stdout
}
