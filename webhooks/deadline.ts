import { parseDuration } from '../lib/duration.ts'

const defaultMs = 10_000
const longestMs = 30_000

/**
 * How long a decision may take: a tenth less than the `timeout` that the API server puts into the URL, so that our answer
 * arrives before the API server stops waiting.
 */
export function deadlineMs(timeout: string | undefined): number {
  const givenMs = parseDuration(timeout ?? '') ?? 0
  return Math.max(1, Math.round(Math.min(givenMs > 0 ? givenMs : defaultMs, longestMs) * 0.9))
}
