export type Scheduler = {
  /** Registers an action that is due in `ms`. */
  schedule(ms: number, action: () => void): void
  /** Runs the actions that are due; called before each request is answered. */
  runDue(): void
}

/** Makes a scheduler for a cloud's delayed actions, such as a deletion that takes time. */
export function makeScheduler(now: () => number): Scheduler {
  let pending: { atMs: number; action: () => void }[] = []
  return {
    schedule: (ms, action) => void pending.push({ atMs: now() + ms, action }),
    runDue() {
      // The clock advances between two reads: an action that became due in between would never run.
      const nowMs = now()
      const due = pending.filter(({ atMs }) => atMs <= nowMs)
      pending = pending.filter(({ atMs }) => atMs > nowMs)
      for (const { action } of due) action()
    },
  }
}
