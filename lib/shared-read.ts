import { setTimeout as sleep } from 'node:timers/promises'

/** A read that is made once for several simultaneous callers. */
export type SharedRead<T> = {
  /** The result of a read that begins after this call, so it is never older. */
  fresh(signal: AbortSignal): Promise<T>
  /** The result of a recent read, if it began after our own last change; else a fresh one. */
  recent(signal: AbortSignal): Promise<T>
  /** Marks earlier values as stale, because we changed what is read. */
  invalidate(): void
}

export type SharedReadOptions<T> = {
  read: (signal: AbortSignal) => Promise<T>
  /** How long a value stays recent after its answer. */
  recentMs: number
  /** The pause after a read, as a multiple of the read's length, but a second at most. Callers meanwhile share the next one. */
  pauseFactor?: number
  /** The error for a caller that stops waiting, and for a read that has no callers left. */
  abandonedError: (cause: unknown) => Error
}

type ReadingOptions = Pick<SharedReadOptions<unknown>, 'abandonedError'> & { after: Promise<void> }

const maxPauseMs = 1_000

/** Makes a read that has not run yet. At most one runs at a time, and callers who arrive meanwhile share the next one. */
export function sharedRead<T>(options: SharedReadOptions<T>): SharedRead<T> {
  const { read, recentMs, pauseFactor = 0, abandonedError } = options
  let current: Reading<T> | undefined
  let next: Reading<T> | undefined
  let good: { value: T; startedAtMs: number; endedAtMs: number } | undefined
  let changedAtMs = -Infinity
  let pauseEndsMs = -Infinity

  const carryOut = async (reading: Reading<T>, ends: AbortSignal) => {
    current = reading
    if (next === reading) next = undefined
    const startedAtMs = performance.now()
    const value = await read(ends)
    const endedAtMs = performance.now()
    good = { value, startedAtMs, endedAtMs }
    pauseEndsMs = endedAtMs + Math.min(maxPauseMs, pauseFactor * (endedAtMs - startedAtMs))
    return value
  }
  const rested = async () => {
    await current?.settled
    const leftMs = pauseEndsMs - performance.now()
    if (leftMs > 0) await sleep(leftMs)
  }
  const fresh = (signal: AbortSignal) => {
    if (!next || next.isAbandoned()) next = makeReading(carryOut, { abandonedError, after: rested() })
    return next.join(signal)
  }

  return {
    fresh,
    async recent(signal) {
      const isRecent = good && good.startedAtMs > changedAtMs && performance.now() - good.endedAtMs <= recentMs
      return good && isRecent ? good.value : fresh(signal)
    },
    invalidate() {
      changedAtMs = performance.now()
    },
  }
}

type Reading<T> = {
  join(signal: AbortSignal): Promise<T>
  /** Whether every caller has left. */
  isAbandoned(): boolean
  /** Resolves when the read has ended, with a value or an error. */
  settled: Promise<void>
}

/** A read that continues while at least one caller waits for it. */
function makeReading<T>(
  carryOut: (reading: Reading<T>, ends: AbortSignal) => Promise<T>,
  { abandonedError, after }: ReadingOptions,
): Reading<T> {
  const ends = new AbortController()
  let callers = 0
  const begin = async () => {
    await after
    ends.signal.throwIfAborted()
    return carryOut(reading, ends.signal)
  }
  const reading: Reading<T> = {
    isAbandoned: () => ends.signal.aborted,
    settled: Promise.resolve(),
    async join(signal) {
      callers += 1
      const left = Promise.withResolvers<never>()
      const leave = () => left.reject(abandonedError(signal.reason))
      signal.addEventListener('abort', leave, { once: true })
      if (signal.aborted) leave()
      try {
        return await Promise.race([value, left.promise])
      } finally {
        signal.removeEventListener('abort', leave)
        callers -= 1
        if (callers === 0) ends.abort(abandonedError('no caller waits for it'))
      }
    },
  }
  const value = begin()
  const settle = () => {}
  reading.settled = value.then(settle, settle)
  return reading
}
