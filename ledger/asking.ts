import type { ElasticIP } from './elastic-ip.ts'

/** Who wrote a record, and so asks the cloud until the record has a status. */
export const askerAnnotation = 'eip-admission.dev/asked-by'

export type Asking = {
  /** Whether a call to the cloud for this record may still be under way, by whomever. */
  underWay(record: ElasticIP): boolean
}

/**
 * Judges calls as a lease is judged: by our own monotonic clock since we first saw the question, for no other clock can
 * be trusted. `timeoutMs` is longer than any call may take; until it is over a second call could buy a second address.
 */
export function asking(of: { timeoutMs: number; monotonicMs: () => number }): Asking {
  const seen = new Map<string, { question: string; atMs: number }>()
  return {
    underWay(record) {
      const { name } = record.metadata
      const question = questionOf(record)
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
export function questionOf({ metadata, status }: ElasticIP): string | undefined {
  const created = { by: metadata.annotations?.[askerAnnotation], since: metadata.creationTimestamp }
  const { by, since } = (status ? status.asking : created) ?? {}
  return by === undefined ? undefined : `${metadata.uid} ${by} ${since}`
}
