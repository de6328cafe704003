export type Random = {
  /** From 0 up to, and without, `below`. */
  whole(below: number): number
  pick<T>(from: readonly T[]): T
  /** True with this probability. */
  happens(often: number): boolean
}

/** Random values that a seed repeats (mulberry32). */
export function random(seed: number): Random {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const whole = (below: number) => Math.floor(next() * below)
  return {
    whole,
    pick: (from) => {
      const chosen = from[whole(from.length)]
      if (chosen === undefined) throw new Error('nothing to pick from')
      return chosen
    },
    happens: (often) => next() < often,
  }
}
