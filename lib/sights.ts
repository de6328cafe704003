/**
 * How long things have been in their state, by our own monotonic clock since we first saw it. Timestamps that others
 * wrote are not compared with our clock: their clocks may differ, and a tenant can write any time.
 */
export type Sights = {
  /** How long a thing has been in this state; 0 at first sight. The state undefined forgets the thing and returns 0. */
  forMs(name: string, state: string | undefined): number
  /** Forgets everything: things may have changed while they were not observed. */
  forget(): void
}

/** Makes an empty memory of first sights. */
export function sights(monotonicMs: () => number): Sights {
  const seen = new Map<string, { state: string; atMs: number }>()
  return {
    forMs(name, state) {
      const known = seen.get(name)
      if (state === undefined) seen.delete(name)
      else if (known?.state === state) return monotonicMs() - known.atMs
      else seen.set(name, { state, atMs: monotonicMs() })
      return 0
    },
    forget: () => seen.clear(),
  }
}
