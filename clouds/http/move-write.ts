import { type MoveOptions, leastWriteMs, longestWriteMs } from '../ports/assignments.ts'
import { CloudError } from '../ports/cloud.ts'
import type { VendorHttp, VendorResponse } from './client.ts'
import type { VendorCall } from './request.ts'

/** A write that waits longer than this for its turn, as the rate limit may demand, has less time for its answer. */
const turnMs = 250

/** Makes a write of a move, limited by how long its caller may write. It ends in time even if it waits for its turn first. */
export async function writeOfMove(
  http: VendorHttp,
  call: VendorCall,
  { signal, writeMs }: MoveOptions,
): Promise<VendorResponse> {
  // Clocks count in fractions, but Node timers take whole numbers.
  const ms = Math.floor(Math.min(writeMs(), longestWriteMs))
  if (ms < leastWriteMs) {
    const message = `${call.method} /${call.path.join('/')} was not sent: this process may no longer move the address`
    throw new CloudError(message, { fault: 'conflict', outcome: 'nothing' })
  }
  const late = AbortSignal.timeout(ms)
  try {
    const ends = AbortSignal.any([signal, late])
    return await http.call({ ...call, lane: 'move', timeoutMs: ms - turnMs }, ends)
  } catch (error) {
    const isUnsent = error instanceof CloudError && error.outcome === 'nothing' && error.fault === 'unavailable'
    if (!isUnsent || !late.aborted || signal.aborted) throw error
    const message = `${call.method} /${call.path.join('/')} was not sent: others had their turn before it`
    throw new CloudError(message, { fault: 'rate-limit', outcome: 'nothing', cause: error })
  }
}
