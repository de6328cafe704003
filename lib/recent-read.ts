/** What a read gave, and when the read began. */
export type ReadValue<T> = { value: T; readAtMs: number }

/**
 * A read that is made once for all callers who accept the same age. It differs from `sharedRead`, whose `fresh` value
 * is never older than the call: here the caller says how old the value may be.
 */
export type RecentRead<T> = {
  /** A value whose answer is at most so old: a slow read counts from its end. Callers who come while it is read get the same value, or the same error. */
  within(maxAgeMs: number, signal: AbortSignal): Promise<T>
  /** The same, with its time. */
  timedWithin(maxAgeMs: number, signal: AbortSignal): Promise<ReadValue<T>>
  /** The last value that was read, however old; undefined before the first one. */
  latest(): T | undefined
  /** Drops the last value, and that of a read under way: whoever asks next gets a new one. */
  forget(): void
}

export type RecentReadOptions<T> = { read: (signal: AbortSignal) => Promise<T>; now: () => number }

type Reading<T> = { endedAtMs: number; state: 'running' | 'good' | 'failed'; result: Promise<ReadValue<T>> }

/** A failed read is not repeated at once by every caller who needs the value too. */
const failureMs = 2_000

/** A read that has not been made yet. */
export function recentRead<T>({ read, now }: RecentReadOptions<T>): RecentRead<T> {
  let latest: ReadValue<T> | undefined
  let last: Reading<T> | undefined

  const start = async (signal: AbortSignal) => {
    const readAtMs = now()
    const withTime = async () => ({ value: await read(signal), readAtMs })
    const reading: Reading<T> = { endedAtMs: Infinity, state: 'running', result: withTime() }
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
  const timedWithin: RecentRead<T>['timedWithin'] = async (maxAgeMs, signal) => {
    if (!last) return start(signal)
    const maxMs = { running: Infinity, good: maxAgeMs, failed: Math.min(maxAgeMs, failureMs) }[last.state]
    return now() - last.endedAtMs <= maxMs ? last.result : start(signal)
  }

  return {
    timedWithin,
    within: async (maxAgeMs, signal) => (await timedWithin(maxAgeMs, signal)).value,
    latest: () => latest?.value,
    forget() {
      latest = undefined
      last = undefined
    },
  }
}
