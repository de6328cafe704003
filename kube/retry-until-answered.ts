import pRetry from 'p-retry'
import { hasNoCredentials } from './errors.ts'
import type { Log } from './log.ts'

/** The log's words for what we wait for. */
export type Waiting = { what: string; log: Log; signal: AbortSignal }

/** Retries a read until the API server answers it. Missing credentials are an error at once, for waiting cannot help. */
export function retryUntilAnswered<T>(read: () => Promise<T>, { what, log, signal }: Waiting): Promise<T> {
  return pRetry(read, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 200,
    maxTimeout: 10_000,
    signal,
    shouldRetry: ({ error }) => !hasNoCredentials(error),
    onFailedAttempt: ({ error }) => log.warn({ error: error.message }, `waiting for ${what}`),
  })
}
