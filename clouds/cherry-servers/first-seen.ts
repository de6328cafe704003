/** Since when things have been there, where the cloud does not say. Never earlier than it was: they are at least that old. */
export type FirstSeen = {
  /** When this was seen first, which is now if it never was. */
  of(id: string): string
  /** Forgets what is not among these: all there are. */
  keep(ids: Iterable<string>): void
}

/** A memory that has seen nothing yet. */
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
