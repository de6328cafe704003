import { X509Certificate } from 'node:crypto'

/** The certificates in a PEM text, in order. Unparsable blocks are skipped. */
export function certificatesIn(pem: string): X509Certificate[] {
  return pem
    .split('-----BEGIN CERTIFICATE-----')
    .slice(1)
    .map(parseBlock)
    .filter((certificate) => certificate !== undefined)
}

/** The union of PEM texts, without duplicates and expired certificates, and always in the same order. */
export function mergeBundles(pems: string[], now: number): string {
  const live = pems.flatMap(certificatesIn).filter((certificate) => certificate.validToDate.getTime() > now)
  const byFingerprint = new Map(live.map((certificate) => [certificate.fingerprint256, certificate.toString()]))
  return [...byFingerprint]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, pem]) => pem)
    .join('')
}

/** Whether a bundle contains every certificate of `part`. */
export function hasCertificates(bundle: string, part: string): boolean {
  const present = fingerprints(bundle)
  return fingerprints(part).isSubsetOf(present)
}

/** Whether two bundles contain the same certificates, in any order and with any text in between. */
export function isSameBundle(a: string, b: string): boolean {
  return hasCertificates(a, b) && hasCertificates(b, a)
}

/** A bundle in the form of `clientConfig.caBundle`. */
export function toCaBundle(pem: string): string {
  return Buffer.from(pem).toString('base64')
}

/** The PEM text of a `clientConfig.caBundle`; empty if it is absent. */
export function fromCaBundle(caBundle: string | undefined): string {
  return Buffer.from(caBundle ?? '', 'base64').toString('utf8')
}

/** The SHA-256 fingerprints of the certificates in a PEM text. */
export function fingerprints(pem: string): Set<string> {
  return new Set(certificatesIn(pem).map((certificate) => certificate.fingerprint256))
}

function parseBlock(afterBegin: string): X509Certificate | undefined {
  const [body] = afterBegin.split('-----END CERTIFICATE-----')
  try {
    return new X509Certificate(`-----BEGIN CERTIFICATE-----${body}-----END CERTIFICATE-----`)
  } catch {
    return undefined
  }
}
