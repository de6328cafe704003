import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Starts the program of a simulated cloud, and collects its output. */
export function runProgram(cloud: 'equinix-metal' | 'cherry-servers', args: string[]) {
  const program = new URL(`../../sandbox/clouds/${cloud}/main.ts`, import.meta.url).pathname
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text))
  return { child, output, ended: once(child, 'close') as Promise<[number | null]> }
}
