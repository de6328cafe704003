/** When we saw things first, as the cloud does not return when they were created: they are at least that old. */
export type FirstSeen = {
  /** When this was seen first: now, if it never was. */
  of(id: string): string
  /** Forgets everything except these, which are all that exist. */
  keep(ids: Iterable<string>): void
}

/** An empty memory. */
export function firstSeen(now: () => Date = () => new Date()): FirstSeen {
  const times = new Map<string, string>()
  return {
    of(id) {
      const time = times.get(id) ?? now().toISOString()
      times.set(id, time)
      return time
    },
    keep(ids) {
      const kept = new Set(ids)
      for (const id of times.keys()) if (!kept.has(id)) times.delete(id)
    },
  }
}
