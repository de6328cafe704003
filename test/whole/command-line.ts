import { spawn } from 'node:child_process'
import type { KubectlResult } from '../../sandbox/kubectl.ts'
import { productCommand } from '../../sandbox/product-command.ts'

const [program = '', ...first] = await productCommand()

/** Runs a command of the product, with Ctrl-C when it prints `stopAt`, and returns what it prints. */
export function typed(args: string[], env: Record<string, string> = {}, stopAt?: string): Promise<KubectlResult> {
  const child = spawn(program, [...first, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 })
  const output = { stdout: '', stderr: '' }
  let isStopped = false
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
      if (isStopped || stopAt === undefined || !output[name].includes(stopAt)) return
      // Only one signal: a second Ctrl-C would end the program at once.
      isStopped = true
      child.kill('SIGINT')
    })
  }
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? -1, ...output }))
  })
}

/**
 * Runs a command of the product without a time limit, calls `onText` with each part of its output, and returns all of
 * it.
 */
export async function followed(
  args: string[],
  onText: (text: string) => void = () => {},
): Promise<{ code: number | null; output: string }> {
  const child = spawn(program, [...first, ...args], { env: {}, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
      onText(text)
    })
  }
  const code = await new Promise<number | null>((resolve, reject) => child.on('error', reject).on('close', resolve))
  return { code, output }
}
