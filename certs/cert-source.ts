/** A certificate and its private key, both PEM. */
export type KeyPair = { cert: string; key: string }

/**
 * The source of the serving certificate that the API server verifies: our own authority, or files that another program
 * renews.
 */
export type CertSource = {
  /** The certificate to serve now; undefined before the first one. */
  current(): KeyPair | undefined
  /** Every CA that a client must trust, as PEM; empty before the first one. */
  caBundle(): string
  /** Calls the listener after every change of the serving certificate. */
  onChange(listener: () => void): void
  /** Resolves at the first certificate or at the abort. Renewal continues until the abort. */
  start(signal: AbortSignal): Promise<void>
  /** Why the API server cannot call us yet, for `/readyz`; undefined if it can. */
  notReady(): string | undefined
  /** When the serving certificate expires. */
  notAfterMs(): number | undefined
}
