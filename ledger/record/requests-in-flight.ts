import type { ElasticIP } from './elastic-ip.ts'

/** Who wrote a record, and so asks the cloud until the record has a status. */
export const requestedByAnnotation = 'eip-admission.dev/requested-by'

export type RequestsInFlight = {
  /** Whether a call to the cloud for this record may still be under way, by whomever. */
  isInFlight(record: ElasticIP): boolean
}

/**
 * Judges calls as a lease is judged: by our own monotonic clock since we first saw the question, for no other clock can
 * be trusted. `timeoutMs` is longer than any call may take; until it is over a second call could buy a second address.
 */
export function requestsInFlight(of: { timeoutMs: number; monotonicMs: () => number }): RequestsInFlight {
  const seen = new Map<string, { question: string; atMs: number }>()
  return {
    isInFlight(record) {
      const { name } = record.metadata
      const question = requestIdOf(record)
      if (question === undefined) {
        seen.delete(name)
        return false
      }
      const known = seen.get(name)
      if (known?.question === question) return of.monotonicMs() - known.atMs < of.timeoutMs
      seen.set(name, { question, atMs: of.monotonicMs() })
      return true
    },
  }
}

/** What tells one question to the cloud from another; undefined when a record waits for no answer. */
export function requestIdOf({ metadata, status }: ElasticIP): string | undefined {
  const created = { sender: metadata.annotations?.[requestedByAnnotation], sentAt: metadata.creationTimestamp }
  const { sender, sentAt } = (status ? status.requestInFlight : created) ?? {}
  return sender === undefined ? undefined : `${metadata.uid} ${sender} ${sentAt}`
}
