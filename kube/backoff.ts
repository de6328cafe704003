/** The wait before the first retry, and the one that no wait exceeds. */
export type Backoff = { firstMs: number; maxMs: number }

/** The wait after so many failures in a row: doubled each time, then up to half of it taken off at random. */
export function backoffMs(failures: number, { firstMs, maxMs }: Backoff): number {
  const fullMs = Math.min(maxMs, firstMs * 2 ** (failures - 1))
  return fullMs * (0.5 + Math.random() / 2)
}
