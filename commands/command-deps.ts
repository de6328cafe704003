/** The parts of the process that a one-time command needs. */
export type CommandDeps = {
  env: Readonly<Record<string, string | undefined>>
  version: string
  print: (text: string) => void
}

/** The parts for a command that may end at any moment, because it has nothing to finish. */
export type StoppableDeps = CommandDeps & Pick<ServeDeps, 'signal' | 'endAtOnce'>

/** Ends the process with this reason as soon as a signal stops it. */
export function endWhenStopped({ signal, endAtOnce }: StoppableDeps, reason: string): void {
  signal.addEventListener('abort', () => endAtOnce(reason), { once: true })
}

/** The parts of the process that `serve` needs. */
export type ServeDeps = {
  env: Readonly<Record<string, string | undefined>>
  version: string
  /** Aborts when the process must stop. */
  signal: AbortSignal
  /** Ends the process now, whatever it waits for. */
  endAtOnce: (reason: string) => void
}
