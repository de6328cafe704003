import { type Clock, systemClock } from '../../kube/clock.ts'
import type { Log } from '../../kube/log.ts'
import { readAuthorities } from '../authorities-file.ts'

/** The authorities whose certificates callers must show, from a file that somebody else renews. */
export type ClientAuthorities = {
  /** PEM. Once read they are there for good: a file that is damaged later changes nothing. */
  current(): string
  onChange(listener: () => void): void
  /** Looks at the file from time to time until the signal aborts. */
  start(signal: AbortSignal): void
}

/** Files that are mounted from a Secret tell nobody that they changed. */
const lookMs = 3_000

/** Reads the authorities now; throws where the file holds none. */
export function clientAuthorities({
  path,
  log,
  clock = systemClock,
}: {
  path: string
  log: Log
  clock?: Clock
}): ClientAuthorities {
  const first = readAuthorities(path)
  if (first.wrong !== undefined) throw new Error(`${path} ${first.wrong}`)
  const listeners: (() => void)[] = []
  let { pem } = first
  let complaint: string | undefined

  const look = () => {
    const { pem: next, wrong } = readAuthorities(path)
    if (wrong !== undefined && wrong !== complaint)
      log.warn({ file: path, wrong }, 'client authorities stay as they were')
    complaint = wrong
    if (next === undefined || next === pem) return
    pem = next
    log.info({ file: path }, 'client authorities changed')
    for (const listener of listeners) listener()
  }
  const follow = async (signal: AbortSignal) => {
    for (;;) {
      await clock.sleep(lookMs, signal)
      if (signal.aborted) return
      look()
    }
  }
  return {
    current: () => pem,
    onChange: (listener) => void listeners.push(listener),
    start: (signal) => void follow(signal),
  }
}
