/** The time that a request for an address may take, including its wait in the queue. */
export type TimeLimit = {
  /** Aborts the calls in flight when the time is over. */
  signal: AbortSignal
  /** Whether the time is over. The clocks tell even if the process or its machine slept and the timer fires late. */
  isOver(): boolean
}

const machineClocks: Clocks = { now: () => performance.now(), date: () => new Date() }

/** Starts a time limit now. */
export function timeLimit(ms: number, clocks: Clocks = machineClocks): TimeLimit {
  const begun = readClocks(clocks)
  const signal = AbortSignal.timeout(timerMs(ms))
  // A timer may fire up to a millisecond early.
  return { signal, isOver: () => signal.aborted || elapsedMs(begun, readClocks(clocks)) >= ms }
}

export type Limits = {
  ms: number
  /** The reason for the abort when the time is over. */
  timeoutError: () => Error
  /** The caller's signal, which ends the work too. */
  signal?: AbortSignal | undefined
  /** The reason for the abort when the caller's signal aborts; by default the signal's own reason. */
  abortError?: (reason: unknown) => unknown
  /** The timer that ends the time; by default one of Node's. */
  timer?: typeof plainTimer
}

/**
 * Runs work under a signal that aborts when the time is over or the caller's signal aborts. The timer ends with the
 * work. The timer of AbortSignal.timeout would live on, and there are thousands of calls. AbortSignal.any would hold
 * memory as long as the caller's signal lives, perhaps as long as the process.
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

/** The time is split into parts, because a standstill of the process can use up one at most. */
const parts = 4

/**
 * Calls back when this process has run this long, and returns a function that cancels. After a standstill of the
 * process, a Node timer would fire before an answer that arrived meanwhile is read. It would blame the other side.
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

/** Node timers that are set for longer fire at once. */
const longestMs = 2 ** 31 - 1

/** How long a timer is set: at most 24.8 days, although settings may be longer. */
export function timerMs(ms: number): number {
  return Math.min(ms, longestMs)
}

/** Waits for work until the signal aborts: then it rejects with the signal's reason, and the work continues. */
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

/** A reading of both clocks: the monotonic one and the date. */
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

/** By the clock that advanced further: the monotonic one stops while the machine is suspended, the date can be set back. */
export function elapsedMs(from: ClockReading, to: ClockReading): number {
  return Math.max(to.ms - from.ms, to.date - from.date)
}
