/** The time on both clocks: the monotonic one and the date. */
export type ClockReading = { ms: number; date: number }

export type Clocks = {
  /** A monotonic time, unrelated to the date. */
  now(): number
  date(): Date
}

/** Reads both clocks. */
export function readClocks(clocks: Clocks): ClockReading {
  return { ms: clocks.now(), date: clocks.date().getTime() }
}

/** By the clock that advanced further: the monotonic one stops while the machine is suspended, the other can be set back. */
export function elapsedMs(from: ClockReading, to: ClockReading): number {
  return Math.max(to.ms - from.ms, to.date - from.date)
}
