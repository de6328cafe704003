import type { ElasticIP } from './elastic-ip.ts'

/** The process that wrote a record; it has a request in flight until the record has a status. */
export const requestedByAnnotation = 'eip-admission.dev/requested-by'

export type RequestsInFlight = {
  /** Whether a request to the cloud for this record may still be in flight, whichever process sent it. */
  isInFlight(record: ElasticIP): boolean
}

/**
 * Judges requests as a lease is judged: by our own monotonic clock since we first saw the request, for no other clock
 * can be trusted. `timeoutMs` is longer than any call may take; before it ends a second call could buy a second address.
 */
export function requestsInFlight(of: { timeoutMs: number; monotonicMs: () => number }): RequestsInFlight {
  const seen = new Map<string, { request: string; atMs: number }>()
  return {
    isInFlight(record) {
      const { name } = record.metadata
      const request = requestIdOf(record)
      if (request === undefined) {
        seen.delete(name)
        return false
      }
      const known = seen.get(name)
      if (known?.request === request) return of.monotonicMs() - known.atMs < of.timeoutMs
      seen.set(name, { request, atMs: of.monotonicMs() })
      return true
    },
  }
}

/** Tells one request to the cloud from another; undefined when a record waits for no answer. */
export function requestIdOf({ metadata, status }: ElasticIP): string | undefined {
  const created = { sender: metadata.annotations?.[requestedByAnnotation], sentAt: metadata.creationTimestamp }
  const { sender, sentAt } = (status ? status.requestInFlight : created) ?? {}
  return sender === undefined ? undefined : `${metadata.uid} ${sender} ${sentAt}`
}
