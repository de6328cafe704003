import { fingerprints } from './bundle.ts'

/** Remembers since when the API server has been able to trust a certificate. */
export type Publication = {
  /** Notes the caBundles (PEM) of all webhooks as they are now. */
  observe(bundles: string[], now: number): void
  /** Whether a certificate has been in every caBundle for the whole overlap, or no webhook is there to read one. */
  settled(cert: string, now: number): boolean
}

/**
 * The API server hears of a new caBundle through a watch of its own, so being written is not being trusted yet. The
 * overlap is counted from our own looks: a replica that takes a rotation over waits once more, which is always safe.
 */
export function publication(overlapMs: number): Publication {
  let sinceMs = new Map<string, number>()
  let anyoneReads = true
  return {
    observe(bundles, now) {
      anyoneReads = bundles.length > 0
      const inAll = bundles
        .map(fingerprints)
        .reduce((all, some) => all.intersection(some), fingerprints(bundles[0] ?? ''))
      sinceMs = new Map([...inAll].map((fingerprint) => [fingerprint, sinceMs.get(fingerprint) ?? now]))
    },
    settled(cert, now) {
      if (!anyoneReads) return true
      return [...fingerprints(cert)].every((fingerprint) => now - (sinceMs.get(fingerprint) ?? now) >= overlapMs)
    },
  }
}
