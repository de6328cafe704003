/** Work that has to end before the process does, although those who wait for it may leave. */
export type UnderWay = {
  track: <T>(work: Promise<T>) => Promise<T>
  /** Resolves when nothing is under way any more. */
  idle: () => Promise<void>
}

/** Nothing is under way yet. */
export function underWay(): UnderWay {
  const all = new Set<Promise<unknown>>()
  return {
    track: (work) => {
      const tracked = work.finally(() => all.delete(tracked))
      all.add(tracked)
      return tracked
    },
    idle: async () => {
      while (all.size > 0) await Promise.allSettled(all)
    },
  }
}
