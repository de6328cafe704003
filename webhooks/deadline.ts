const defaultMs = 10_000

/**
 * The time for one review. The API server sends its `timeout` in the URL (whole seconds, or a Go duration of one unit). We
 * take a tenth less, so that our answer arrives before the API server stops waiting.
 */
export function deadlineMs(timeout: string | undefined): number {
  const [, amount = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m)$/.exec(timeout ?? '') ?? []
  const unitMs = { ms: 1, s: 1000, m: 60_000 }[unit]
  const givenMs = unitMs === undefined ? defaultMs : Math.min(Number(amount) * unitMs, 30_000)
  return Math.max(1, Math.round(givenMs * 0.9))
}

/**
 * Runs work under a signal that aborts after `ms`. Its timer ends with the work: one of AbortSignal.timeout would live on
 * to its end, and reviews come by the thousand.
 */
export async function inTime<T>(ms: number, work: (signal: AbortSignal) => Promise<T> | T): Promise<T> {
  const ends = new AbortController()
  const timer = setTimeout(() => ends.abort(new Error(`no decision within ${ms} ms`)), ms)
  try {
    return await work(ends.signal)
  } finally {
    clearTimeout(timer)
  }
}
