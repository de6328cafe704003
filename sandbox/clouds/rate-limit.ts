export type RateLimit = { calls: number; perMs: number }

/** The state of a caller's window: calls left, start of the next window, and whether the last call was over the limit. */
export type RateStatus = { limit: number; remaining: number; resetAtMs: number; isOver: boolean }

/** Makes a counter of each caller's calls in windows of a fixed length. */
export function makeRateCounter({ calls, perMs }: RateLimit, now: () => number) {
  const windows = new Map<string, { resetAtMs: number; used: number }>()
  const current = (caller: string) => {
    const known = windows.get(caller)
    if (known && now() < known.resetAtMs) return known
    const fresh = { resetAtMs: now() + perMs, used: 0 }
    windows.set(caller, fresh)
    return fresh
  }
  const status = (caller: string): RateStatus => {
    const { used, resetAtMs } = current(caller)
    return { limit: calls, remaining: Math.max(0, calls - used), resetAtMs, isOver: used > calls }
  }
  return {
    status,
    count(caller: string): RateStatus {
      current(caller).used += 1
      return status(caller)
    },
  }
}
