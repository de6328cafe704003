import { spawn } from 'node:child_process'

export type Typing = { commands: string; dir: string; env: NodeJS.ProcessEnv; patienceMs: number }

/** Types commands; returns their exit code and what they print. Ends them, and all that they started, if they hang. */
export async function typeCommands({ commands, dir, env, patienceMs }: Typing) {
  // In a process group of its own: a command that outlives its shell would keep the output open.
  const child = spawn('bash', ['-eu', '-o', 'pipefail', '-c', commands], {
    cwd: dir,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
  }
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }, patienceMs)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  }).finally(() => clearTimeout(timer))
  if (isLate) throw new Error(`did not end within ${patienceMs / 1000} s\n${commands}\n${printed}`)
  return { code, printed }
}
