import { CloudError } from '../../clouds/ports/cloud.ts'

/** A cloud that asks for a longer wait does not know that users wait for the address. */
const longestMs = 10 * 60_000

/** How long the cloud asks us to wait before the next call; 0 if it does not ask. */
export function retryAfterOf(error: unknown): number {
  return error instanceof CloudError ? Math.min(error.retryAfterMs ?? 0, longestMs) : 0
}
