/** How often we repair what another program may undo each time. */
export type RepairPace = {
  /** How long to wait before the next repair; 0 if it may be made now. */
  pauseMs(): number
  /** A repair was made. */
  made(): void
}

const intervalMs = 10_000

/** A pace that permits so many repairs at once, and then one in each interval. */
export function repairPace(burst: number, now: () => number): RepairPace {
  const times: number[] = []
  const windowMs = burst * intervalMs
  return {
    pauseMs() {
      const recent = times.filter((time) => now() - time < windowMs)
      const last = recent.at(-1) ?? -Infinity
      return recent.length < burst ? 0 : Math.max(0, last + intervalMs - now())
    },
    made() {
      times.push(now())
      if (times.length > burst) times.shift()
    },
  }
}
