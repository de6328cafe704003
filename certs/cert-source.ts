/** A certificate and its private key, both PEM. */
export type KeyPair = { cert: string; key: string }

/**
 * Where the certificate comes from that the API server is shown: signed by ourselves, or read from files that somebody
 * else renews.
 */
export type CertSource = {
  /** The certificate to serve now; undefined until there is one. Once there is one, there always is. */
  current(): KeyPair | undefined
  /** Every CA that a client must trust, PEM; empty until there is one. */
  caBundle(): string
  /** Calls the listener after every change of what is served. */
  onChange(listener: () => void): void
  /** Resolves when there is a certificate to serve, or on abort; renewal then goes on until abort. */
  start(signal: AbortSignal): Promise<void>
  /** Why the API server cannot call us yet, in words for `/readyz`; undefined when it can. */
  notReady(): string | undefined
  /** When the certificate being served ends. */
  notAfterMs(): number | undefined
}
