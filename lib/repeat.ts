import { setTimeout as after } from 'node:timers/promises'
import { timerMs } from './time-limit.ts'

/** How soon the next round begins, if not after the usual pause; `over` ends the rounds. */
type Round = number | 'over' | undefined | void

export type Pace = {
  everyMs: number
  signal: AbortSignal
  /** The clock for the pauses; by default, timers that do not keep the process alive. */
  clock?: { sleep(ms: number, signal: AbortSignal): Promise<void> }
}

/** Works immediately, and again after each pause, until the signal aborts or a round returns `over`. */
export async function repeat(
  work: (signal: AbortSignal) => Round | Promise<Round>,
  { everyMs, signal, clock = timers }: Pace,
): Promise<void> {
  while (!signal.aborted) {
    const round = await work(signal)
    if (round === 'over') return
    await clock.sleep(round ?? everyMs, signal)
  }
}

/** The same, but the first round begins after a pause. */
export async function repeatLater(work: Parameters<typeof repeat>[0], pace: Pace): Promise<void> {
  let isFirst = true
  await repeat(async (signal) => {
    const round = isFirst ? undefined : await work(signal)
    isFirst = false
    return round
  }, pace)
}

const timers: NonNullable<Pace['clock']> = {
  sleep: (ms, signal) => after(timerMs(ms), undefined, { signal, ref: false }).catch(() => undefined),
}

/** The wait before the first retry, and the longest wait. */
export type Backoff = { firstMs: number; maxMs: number }

/** The wait after this many consecutive failures. It doubles each time, and a random part of up to half is subtracted. */
export function backoffMs(failures: number, { firstMs, maxMs }: Backoff): number {
  return withJitter(Math.min(maxMs, firstMs * 2 ** (failures - 1)))
}

/** A wait minus a random part of up to half, so that many processes do not act at the same moment. */
export function withJitter(ms: number): number {
  return ms * (0.5 + Math.random() / 2)
}
