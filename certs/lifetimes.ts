const hourMs = 60 * 60 * 1000
const dayMs = 24 * hourMs

/** How long certificates are valid after their issue. */
export type Lifetimes = { authorityMs: number; leafMs: number }

export const defaultLifetimes: Lifetimes = { authorityMs: 365 * dayMs, leafMs: 7 * dayMs }

export type Pace = {
  /** How often we check the Secret, the configurations and the expiry. */
  checkMs: number
  /** How long an authority is published before it signs, because the API server learns of it with a delay. */
  overlapMs: number
  /** How long an authority stays trusted after its last signature: a disconnected replica may sign another leaf with it. */
  retireAfterMs: number
}

/** The pace for these lifetimes: certificates that are valid for seconds are replaced within seconds. */
export function paceOf({ leafMs }: Lifetimes): Pace {
  const checkMs = Math.min(10_000, leafMs / 12)
  return { checkMs, overlapMs: 3 * checkMs, retireAfterMs: leafMs + Math.min(dayMs, leafMs) }
}

/** How long before its issue a certificate becomes valid, so that a machine whose clock is slow accepts it. */
export function backdateMs(lifetimeMs: number): number {
  return Math.min(hourMs, lifetimeMs / 10)
}
