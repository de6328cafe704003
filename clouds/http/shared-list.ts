import { type SharedRead, sharedRead } from '../../lib/shared-read.ts'
import { CloudError } from '../ports/cloud.ts'

/** Within this time the calls for all objects of one round begin. */
const recentMs = 2_000

/** A list of a cloud that all callers read together; `what` names it for a person. */
export function sharedList<T>(of: { what: string; read: (signal: AbortSignal) => Promise<T[]> }): SharedRead<T[]> {
  const abandonedError = (cause: unknown) =>
    new CloudError(`reading ${of.what} was canceled`, { fault: 'unavailable', outcome: 'nothing', cause })
  return sharedRead({ read: of.read, recentMs, abandonedError })
}
