export type Agenda = {
  /** Carries something out when `ms` have passed, before the next call that comes after. */
  later(ms: number, what: () => void): void
  /** Carries out what has fallen due. */
  settle(): void
}

/** What a cloud does by itself in the course of time. */
export function makeAgenda(now: () => number): Agenda {
  let due: { atMs: number; what: () => void }[] = []
  return {
    later: (ms, what) => void due.push({ atMs: now() + ms, what }),
    settle() {
      const ripe = due.filter(({ atMs }) => atMs <= now())
      due = due.filter(({ atMs }) => atMs > now())
      for (const { what } of ripe) what()
    },
  }
}
