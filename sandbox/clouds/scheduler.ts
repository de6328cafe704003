export type Scheduler = {
  /** Carries something out when `ms` have passed, before the next call that comes after. */
  schedule(ms: number, what: () => void): void
  /** Carries out what has fallen due. */
  runDue(): void
}

/** What a cloud does by itself in the course of time. */
export function makeScheduler(now: () => number): Scheduler {
  let due: { atMs: number; what: () => void }[] = []
  return {
    schedule: (ms, what) => void due.push({ atMs: now() + ms, what }),
    runDue() {
      const ripe = due.filter(({ atMs }) => atMs <= now())
      due = due.filter(({ atMs }) => atMs > now())
      for (const { what } of ripe) what()
    },
  }
}
