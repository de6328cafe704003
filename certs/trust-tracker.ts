import { fingerprints } from './bundle.ts'

/** Tracks how long each certificate has been published in every caBundle. */
export type TrustTracker = {
  /** Records the caBundles (PEM) of all webhooks as they are now. */
  observe(bundles: string[], now: number): void
  /** Whether a certificate has been in every caBundle for the whole overlap, or no webhook exists. */
  isTrusted(cert: string, now: number): boolean
}

/**
 * The API server learns of a new caBundle through its own watch, so a written caBundle is not trusted at once. We count the
 * overlap from our own reads: a replica that becomes leader during a rotation waits the whole overlap again, which is safe.
 */
export function trustTracker(overlapMs: number): TrustTracker {
  let sinceMs = new Map<string, number>()
  let hasWebhooks = true
  return {
    observe(bundles, now) {
      hasWebhooks = bundles.length > 0
      const inAll = bundles
        .map(fingerprints)
        .reduce((common, next) => common.intersection(next), fingerprints(bundles[0] ?? ''))
      sinceMs = new Map([...inAll].map((fingerprint) => [fingerprint, sinceMs.get(fingerprint) ?? now]))
    },
    isTrusted(cert, now) {
      if (!hasWebhooks) return true
      return [...fingerprints(cert)].every((fingerprint) => now - (sinceMs.get(fingerprint) ?? now) >= overlapMs)
    },
  }
}
