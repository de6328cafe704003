import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { createInterface } from 'node:readline'

export type Child = {
  readonly pid: number
  /** Resolves with the exit code, or null when a signal ended the program. */
  readonly exited: Promise<number | null>
  readonly isRunning: () => boolean
  signal(signal: NodeJS.Signals): void
  /** Sends `signal`, and SIGKILL after `graceMs`; resolves when the program has ended. */
  stop(signal?: NodeJS.Signals, graceMs?: number): Promise<number | null>
}

export type ChildOptions = { logFile?: string; env?: NodeJS.ProcessEnv; onLine?: (line: string) => void }

const setpriv = '/usr/bin/setpriv'

/** Starts a program. With setpriv (util-linux) on the machine it ends with this process, also when that is killed. */
export function startChild(command: string[], options: ChildOptions = {}): Child {
  const wrapped = existsSync(setpriv) ? [setpriv, '--pdeathsig', 'KILL', '--', ...command] : command
  const log = options.logFile === undefined ? 'ignore' : openSync(options.logFile, 'a')
  const child = spawn(wrapped[0] ?? '', wrapped.slice(1), {
    stdio: ['ignore', options.onLine ? 'pipe' : log, log],
    env: options.env ?? process.env,
  })
  if (child.stdout && options.onLine) createInterface({ input: child.stdout }).on('line', options.onLine)
  return childOf(child)
}

function childOf(child: ChildProcess): Child {
  const exited = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', resolve)
  })
  const isRunning = () => child.exitCode === null && child.signalCode === null
  return {
    pid: child.pid ?? -1,
    exited,
    isRunning,
    signal: (signal) => void child.kill(signal),
    async stop(signal = 'SIGTERM', graceMs = 10_000) {
      if (isRunning()) child.kill(signal)
      const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
      const code = await exited
      clearTimeout(timer)
      return code
    },
  }
}
