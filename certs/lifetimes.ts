const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

/** How long certificates last from when they are issued. */
export type Lifetimes = { authorityMs: number; leafMs: number }

export const usualLifetimes: Lifetimes = { authorityMs: 365 * dayMs, leafMs: 7 * dayMs }

export type Pace = {
  /** How often the Secret, the configurations and the clock are looked at. */
  checkMs: number
  /** How long an authority is published before anything is signed with it: the API server learns of it with a delay. */
  overlapMs: number
  /** How long an authority that signs no more is trusted: a replica may be cut off and sign one more leaf with it. */
  retireAfterMs: number
}

/** What the lifetimes leave time for: certificates that last seconds are changed within seconds. */
export function paceOf({ leafMs }: Lifetimes): Pace {
  const checkMs = Math.min(10_000, leafMs / 12)
  return { checkMs, overlapMs: 3 * checkMs, retireAfterMs: leafMs + Math.min(dayMs, leafMs) }
}

/** How far back a certificate begins: a machine whose clock is behind must not find a fresh one "not yet valid". */
export function backdateMs(lifetimeMs: number): number {
  return Math.min(hourMs, lifetimeMs / 10)
}
