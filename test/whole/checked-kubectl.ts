import type { Service } from '../../kube/objects.ts'
import type { Kubectl, KubectlResult } from '../../sandbox/kubectl.ts'

/** kubectl commands that must succeed. */
export type CheckedKubectl = {
  /** Runs `kubectl <verb> -f - -o json` and returns the object that it prints. */
  send(verb: string[], manifest: object): Promise<Service>
  create(manifest: object): Promise<Service>
  /** Runs any command and returns what it prints. */
  run(...args: string[]): Promise<string>
}

const verbsOfFiles = ['create', 'apply', 'replace']

/** How often a person tries to replace an object that others also write. */
const replacements = 5

/**
 * Makes a kubectl that does not compare manifests with the schemas. For that it would read the schemas of the whole API
 * each time, which takes as much processor time as the command itself. `replace` reads the object first, and is tried
 * again if a status was written in between.
 */
export function withoutSchemas(kubectl: Kubectl): Kubectl {
  return async (args, manifest) => {
    const [verb = ''] = args
    const comparesWithSchemas = verbsOfFiles.includes(verb) && args.includes('-f') && !args.includes('--raw')
    const quick = comparesWithSchemas ? [...args, '--validate=ignore'] : args
    for (let tries = 1; ; tries += 1) {
      const result = await kubectl(quick, manifest)
      if (verb !== 'replace' || tries === replacements || !result.stderr.includes('(Conflict)')) return result
    }
  }
}

/** Makes commands that throw on failure, with the command and its output. */
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
