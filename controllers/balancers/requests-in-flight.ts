import type { Key } from '../../kube/objects.ts'

export type BalancerRequests = {
  /** Whether a request that a Service notes may still be carried out, whichever process sent it. */
  isInFlight(key: Key, request: string | undefined): boolean
}

/**
 * Judges requests as a lease is judged: by our own monotonic clock since we first saw the note. `timeoutMs` is longer than
 * any request may take; before it ends, a second request could create a second balancer.
 */
export function balancerRequests(of: { timeoutMs: number; monotonicMs: () => number }): BalancerRequests {
  const seen = new Map<Key, { request: string; atMs: number }>()
  return {
    isInFlight(key, request) {
      if (request === undefined) {
        seen.delete(key)
        return false
      }
      const known = seen.get(key)
      if (known?.request === request) return of.monotonicMs() - known.atMs < of.timeoutMs
      seen.set(key, { request, atMs: of.monotonicMs() })
      return true
    },
  }
}
