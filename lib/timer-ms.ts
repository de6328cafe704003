/** A Node timer that is set for longer fires at once. */
const longestMs = 2 ** 31 - 1

/** For how long a timer is set: at most 24.8 days. Settings may be longer. */
export function timerMs(ms: number): number {
  return Math.min(ms, longestMs)
}
