export type RateLimit = { calls: number; perMs: number }

/** Where a caller stands: how many calls are left in this window, when the next begins, whether this one was too many. */
export type RateStatus = { limit: number; remaining: number; resetAtMs: number; over: boolean }

/** Counts the calls of each caller in windows of a fixed length. */
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
    return { limit: calls, remaining: Math.max(0, calls - used), resetAtMs, over: used > calls }
  }
  return {
    status,
    count(caller: string): RateStatus {
      current(caller).used += 1
      return status(caller)
    },
  }
}
