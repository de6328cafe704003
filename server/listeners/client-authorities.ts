import { type Clock, systemClock } from '../../kube/clock.ts'
import { repeatLater } from '../../lib/repeat.ts'
import type { Log } from '../../kube/log.ts'
import { readAuthorities } from '../../certs/authorities-file.ts'

/** The authorities whose certificates callers must present, from a file that another program renews. */
export type ClientAuthorities = {
  /** The authorities as PEM. A file that is damaged later changes nothing. */
  current(): string
  onChange(listener: () => void): void
  /** Checks the file regularly until the signal aborts. */
  start(signal: AbortSignal): void
}

/** Files mounted from a Secret send no notification when they change. */
const checkMs = 3_000

/** Reads the authorities now; throws if the file contains none. */
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
  let warned: string | undefined

  const check = () => {
    const { pem: next, wrong } = readAuthorities(path)
    if (wrong !== undefined && wrong !== warned) log.warn({ file: path, wrong }, 'the previous client CAs stay in use')
    warned = wrong
    if (next === undefined || next === pem) return
    pem = next
    log.info({ file: path }, 'client CAs changed')
    for (const listener of listeners) listener()
  }
  return {
    current: () => pem,
    onChange: (listener) => void listeners.push(listener),
    start: (signal) => void repeatLater(check, { everyMs: checkMs, signal, clock }),
  }
}
