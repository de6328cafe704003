/**
 * A read that is made once for all callers who accept the same age. It differs from `sharedRead`, whose `fresh` value
 * is never older than the call: here the caller says how old the value may be.
 */
export type RecentRead<T> = {
  /** A value whose answer is at most so old: a slow read counts from its end. Callers who come while it is read get the same value, or the same error. */
  within(maxAgeMs: number, signal: AbortSignal): Promise<T>
  /** A value whose read began at this time or later. */
  since(atMs: number, signal: AbortSignal): Promise<T>
  /** The last value that was read, however old; undefined before the first one. */
  latest(): T | undefined
  /** Drops the last value, and the value of a read under way: the next caller gets a new one. */
  forget(): void
}

export type RecentReadOptions<T> = { read: (signal: AbortSignal) => Promise<T>; now: () => number }

type Reading<T> = { beganAtMs: number; endedAtMs: number; state: 'running' | 'good' | 'failed'; result: Promise<T> }

/** A failed read is not repeated at once by every caller who needs the value too. */
const failureMs = 2_000

/** A read that has not been made yet. */
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
