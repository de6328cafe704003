import { parseDuration } from '../lib/duration.ts'

const defaultMs = 10_000
const longestMs = 30_000

/**
 * The time for one review. The API server sends its `timeout` in the URL as a Go duration. We
 * take a tenth less, so that our answer arrives before the API server stops waiting.
 */
export function deadlineMs(timeout: string | undefined): number {
  const givenMs = parseDuration(timeout ?? '') ?? 0
  return Math.max(1, Math.round(Math.min(givenMs > 0 ? givenMs : defaultMs, longestMs) * 0.9))
}
