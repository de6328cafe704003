/** The time that one request for an address may take, its wait in the queue included. */
export type TimeLimit = {
  /** Aborts the calls in flight when the time is over. */
  signal: AbortSignal
  /** Whether the time is over: the clocks show it also where the process or its machine slept, and the timer fires late. */
  isOver(): boolean
}

const machineClocks: Clocks = { now: () => performance.now(), date: () => new Date() }

/** A time limit that begins now. */
export function timeLimit(ms: number, clocks: Clocks = machineClocks): TimeLimit {
  const begun = readClocks(clocks)
  const signal = AbortSignal.timeout(timerMs(ms))
  // A timer may fire up to a millisecond early.
  return { signal, isOver: () => signal.aborted || elapsedMs(begun, readClocks(clocks)) >= ms }
}

export type Limits = {
  ms: number
  /** The reason of the abort when the time is over. */
  timeoutError: () => Error
  /** The caller's signal, which ends the work too. */
  signal?: AbortSignal | undefined
  /** The reason of the abort when the caller's signal aborts; without it, the signal's own reason. */
  abortError?: (reason: unknown) => unknown
  /** The timer that ends the time; without it, one of Node. */
  timer?: typeof plainTimer
}

/**
 * Runs work under a signal that aborts when the time is over or the caller's signal aborts. The timer ends with the work:
 * the timer of AbortSignal.timeout would live on, and calls come by the thousand. AbortSignal.any would keep memory for
 * as long as the caller's signal lives, which may be as long as the process.
 */
export async function withTimeLimit<T>(limits: Limits, work: (signal: AbortSignal) => Promise<T> | T): Promise<T> {
  const { ms, timeoutError, signal, abortError = (reason) => reason, timer = plainTimer } = limits
  const ends = new AbortController()
  const stopTimer = timer(ms, () => ends.abort(timeoutError()))
  const abort = () => ends.abort(abortError(signal?.reason))
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort, { once: true })
  try {
    return await work(ends.signal)
  } finally {
    stopTimer()
    signal?.removeEventListener('abort', abort)
  }
}

function plainTimer(ms: number, over: () => void): () => void {
  const timer = setTimeout(over, timerMs(ms))
  return () => clearTimeout(timer)
}

/** The parts of a time, of which a standstill of the process can take one. */
const parts = 4

/**
 * Calls back when this process has run for so long, and returns what stops that. After a standstill of the process, a
 * timer of Node is over before an answer that came meanwhile is read. It would blame the other side.
 */
export function runningTimer(ms: number, over: () => void): () => void {
  let left = parts
  const timer = setInterval(
    () => {
      left -= 1
      if (left > 0) return
      clearInterval(timer)
      over()
    },
    timerMs(ms / parts),
  )
  return () => clearInterval(timer)
}

/** A Node timer that is set for longer fires at once. */
const longestMs = 2 ** 31 - 1

/** For how long a timer is set: at most 24.8 days. Settings may be longer. */
export function timerMs(ms: number): number {
  return Math.min(ms, longestMs)
}

/** Waits for work, but not beyond the signal: then it rejects with the signal's reason, and the work goes on. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const leave = () => reject(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    return await Promise.race([work, aborted])
  } finally {
    signal.removeEventListener('abort', leave)
  }
}

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
