import { spawn } from 'node:child_process'

/** Runs commands of `ip` in one process, in a network namespace or in that of this process; throws where one fails. */
export async function runIp(commands: string[], namespace?: string): Promise<void> {
  const child = spawn('ip', [...(namespace === undefined ? [] : ['-n', namespace]), '-batch', '-'], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  child.stdin.end(`${commands.join('\n')}\n`)
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  if (code !== 0) throw new Error(`ip, ${namespace ?? 'at the router'}: ${errors.trim()}`)
}
