/**
 * How long things have been as they are, by our own monotonic clock since we first saw them so. Times that others wrote
 * are not compared with our clock: theirs may differ, and a tenant writes any time.
 */
export type Sights = {
  /** For how long a thing has been in this state; 0 at first sight, and for undefined, which forgets the thing. */
  forMs(name: string, state: string | undefined): number
  /** Forgets every thing: it may have been in another state while it was not observed. */
  forget(): void
}

/** An empty memory of first sights. */
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
