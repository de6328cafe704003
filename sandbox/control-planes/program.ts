import { type Child, startChild } from '../child.ts'

/** A program of a machine, which tests can end, freeze and restart. */
export type Program = {
  /** Starts it and waits until it is ready. */
  start(): Promise<void>
  /** Ends it with a signal, SIGKILL where none is given, and waits until it has ended. */
  end(signal?: NodeJS.Signals): Promise<void>
  /** Freezes it: its connections stay open, and nothing answers. */
  pause(): void
  resume(): void
  isRunning(): boolean
  /** The process id of the last start. */
  pid(): number
}

export type ProgramOptions = {
  command: string[]
  logFile: string
  env?: NodeJS.ProcessEnv
  /** Resolves when the program is ready; without it a program is ready at once. */
  ready?: (child: Child) => Promise<void>
}

/** Makes a program without starting it. */
export function makeProgram({ command, logFile, env, ready }: ProgramOptions): Program {
  let child: Child | undefined
  const isRunning = () => child?.isRunning() ?? false
  return {
    async start() {
      if (isRunning()) return
      child = startChild(command, { logFile, ...(env && { env }) })
      await ready?.(child)
    },
    end: async (signal = 'SIGKILL') => void (await child?.stop(signal)),
    pause: () => child?.signal('SIGSTOP'),
    resume: () => child?.signal('SIGCONT'),
    isRunning,
    pid: () => child?.pid ?? -1,
  }
}
