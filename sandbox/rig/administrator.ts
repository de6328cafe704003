import type { ControlPlane } from '../control-plane/start.ts'
import { type Kubectl, kubectlOf } from '../kubectl.ts'

/** Runs kubectl commands that must succeed. */
export type Administrator = {
  run: (args: string[], manifest?: object | string) => Promise<string>
  apply: (manifest: object | string) => Promise<void>
}

/** Makes an administrator of a cluster; a command that fails throws with its error output. */
export function makeAdministrator(controlPlane: ControlPlane): Administrator {
  return administratorWith(kubectlOf(controlPlane))
}

/** Makes an administrator who uses an existing kubectl. */
export function administratorWith(kubectl: Kubectl): Administrator {
  const run: Administrator['run'] = async (args, manifest) => {
    const { code, stdout, stderr } = await kubectl(args, manifest)
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
    return stdout
  }
  return {
    run,
    apply: async (manifest) => void (await run(['apply', '--server-side', '--force-conflicts', '-f', '-'], manifest)),
  }
}
