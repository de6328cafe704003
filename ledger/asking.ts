import type { ElasticIP } from './elastic-ip.ts'

/** Who wrote a record, and so asks the cloud until the record has a status. */
export const askerAnnotation = 'eip-admission.dev/asked-by'

/** Older than this by the wall clock a call is over, however wrong two machines' clocks are. */
const surelyOverMs = 5 * 60_000

export type Asking = {
  /** Whether a call to the cloud for this record, by somebody else, may still be under way. */
  byAnother(record: ElasticIP): boolean
}

/**
 * Judges other processes' calls as a lease is judged: by our own monotonic clock since we first saw the record as it
 * is. `timeoutMs` is longer than any call may take; until it is over a second call could buy a second address.
 */
export function asking(of: {
  identity: string
  timeoutMs: number
  now: () => Date
  monotonicMs: () => number
}): Asking {
  const seen = new Map<string, { version: string | undefined; atMs: number }>()
  return {
    byAnother(record) {
      const { name, resourceVersion } = record.metadata
      const asker = askerOf(record)
      if (!asker || asker.by === of.identity) {
        seen.delete(name)
        return false
      }
      if (of.now().getTime() - Date.parse(asker.since) > surelyOverMs) return false
      const known = seen.get(name)
      if (known && known.version === resourceVersion) return of.monotonicMs() - known.atMs < of.timeoutMs
      seen.set(name, { version: resourceVersion, atMs: of.monotonicMs() })
      return true
    },
  }
}

function askerOf({ metadata, status }: ElasticIP): { by: string; since: string } | undefined {
  if (status) return status.asking
  return { by: metadata.annotations?.[askerAnnotation] ?? '', since: metadata.creationTimestamp ?? '' }
}
