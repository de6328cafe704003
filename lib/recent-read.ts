/**
 * A read that is shared by all callers who accept its age. It differs from `sharedRead`, whose `fresh` value is never
 * older than the call: here each caller states a maximum age.
 */
export type RecentRead<T> = {
  /** A value answered at most this long ago: a slow read's age counts from its end. Callers during a read share it. */
  within(maxAgeMs: number, signal: AbortSignal): Promise<T>
  /** A value whose read began at this time or later. */
  since(atMs: number, signal: AbortSignal): Promise<T>
  /** The last value that was read, however old; undefined before the first one. */
  latest(): T | undefined
  /** Drops the last value and the one being read, so that the next caller gets a new one. */
  forget(): void
}

export type RecentReadOptions<T> = { read: (signal: AbortSignal) => Promise<T>; now: () => number }

type Reading<T> = { beganAtMs: number; endedAtMs: number; state: 'running' | 'good' | 'failed'; result: Promise<T> }

/** A failed read is not repeated at once by every caller that needs the value. */
const failureMs = 2_000

/** Makes a read that has not run yet. */
export function recentRead<T>({ read, now }: RecentReadOptions<T>): RecentRead<T> {
  let latest: T | undefined
  let last: Reading<T> | undefined

  const start = async (signal: AbortSignal) => {
    const reading: Reading<T> = { beganAtMs: now(), endedAtMs: Infinity, state: 'running', result: read(signal) }
    last = reading
    try {
      const result = await reading.result
      reading.state = 'good'
      if (last === reading) latest = result
      return result
    } catch (error) {
      reading.state = 'failed'
      // The caller left, as at the end of a term: that says nothing about the next read.
      if (signal.aborted && last === reading) last = undefined
      throw error
    } finally {
      reading.endedAtMs = now()
    }
  }
  const isWithin = ({ state, endedAtMs }: Reading<T>, maxAgeMs: number) => {
    const maxMs = { running: Infinity, good: maxAgeMs, failed: Math.min(maxAgeMs, failureMs) }[state]
    return now() - endedAtMs <= maxMs
  }

  return {
    within: async (maxAgeMs, signal) => (last && isWithin(last, maxAgeMs) ? last.result : start(signal)),
    since: async (atMs, signal) =>
      last && last.beganAtMs >= atMs && isWithin(last, Infinity) ? last.result : start(signal),
    latest: () => latest,
    forget() {
      latest = undefined
      last = undefined
    },
  }
}
