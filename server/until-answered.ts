import pRetry from 'p-retry'
import { lacksCredentials } from '../kube/errors.ts'
import type { Log } from '../kube/log.ts'

export type Waiting = { what: string; log: Log; signal: AbortSignal }

/** What the API server says, as soon as it says it; without credentials there is nothing to wait for. */
export function untilAnswered<T>(read: () => Promise<T>, { what, log, signal }: Waiting): Promise<T> {
  return pRetry(read, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 200,
    maxTimeout: 10_000,
    signal,
    shouldRetry: ({ error }) => !lacksCredentials(error),
    onFailedAttempt: ({ error }) => log.warn({ error: error.message }, `waiting for ${what}`),
  })
}
