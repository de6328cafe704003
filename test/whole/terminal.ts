import type { Service } from '../../kube/objects.ts'
import type { Kubectl, KubectlResult } from '../../sandbox/kubectl.ts'

/** What a person types, which has to succeed. */
export type Terminal = {
  /** `kubectl <verb> -f - -o json`; the object that the terminal shows. */
  send(verb: string[], manifest: object): Promise<Service>
  create(manifest: object): Promise<Service>
  /** Any command; what it printed. */
  must(...args: string[]): Promise<string>
}

/** A terminal in which failed commands are errors that say what was typed and answered. */
export function terminal(kubectl: Kubectl): Terminal {
  const send: Terminal['send'] = async (verb, manifest) => {
    const args = [...verb, '-f', '-', '-o', 'json']
    return JSON.parse(succeeded(args, await kubectl(args, manifest))) as Service
  }
  return {
    send,
    create: (manifest) => send(['create'], manifest),
    must: async (...args) => succeeded(args, await kubectl(args)),
  }
}

function succeeded(args: string[], { code, stdout, stderr }: KubectlResult): string {
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: exit ${code}\n${stdout}${stderr}`)
  return stdout
}
