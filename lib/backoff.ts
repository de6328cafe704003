/** The wait before the first retry, and the longest wait. */
export type Backoff = { firstMs: number; maxMs: number }

/** The wait after so many failures in a row: it doubles each time, and up to half of it is taken off at random. */
export function backoffMs(failures: number, { firstMs, maxMs }: Backoff): number {
  return withJitter(Math.min(maxMs, firstMs * 2 ** (failures - 1)))
}

/** A wait with up to half of it taken off at random, so that many processes do not act at the same moment. */
export function withJitter(ms: number): number {
  return ms * (0.5 + Math.random() / 2)
}
