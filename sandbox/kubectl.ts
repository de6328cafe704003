import { spawn } from 'node:child_process'
import { join } from 'node:path'
import type { ControlPlane } from './control-plane/start.ts'

export type KubectlResult = { code: number; stdout: string; stderr: string }

/** Runs kubectl, with a manifest on stdin if one is given, and returns its exit code and output. */
export type Kubectl = (args: string[], manifest?: object | string) => Promise<KubectlResult>

/** Makes a kubectl for the cluster administrator, or for the user of another kubeconfig file. */
export function kubectlOf(controlPlane: Pick<ControlPlane, 'kubectl' | 'kubeconfig' | 'dir'>, file?: string): Kubectl {
  const { kubectl, kubeconfig, dir } = controlPlane
  const env = { ...process.env, KUBECONFIG: file ?? kubeconfig, KUBECACHEDIR: join(dir, 'kubectl-cache') }
  return (args, manifest) => {
    const child = spawn(kubectl, args, { env, stdio: ['pipe', 'pipe', 'pipe'] })
    const output = { stdout: '', stderr: '' }
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text
      })
    }
    // A kubectl that refuses its arguments closes stdin before it has read the manifest.
    child.stdin.on('error', () => undefined)
    child.stdin.end(typeof manifest === 'object' ? JSON.stringify(manifest) : manifest)
    return new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', (code) => resolve({ code: code ?? -1, ...output }))
    })
  }
}
