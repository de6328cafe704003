import { X509Certificate } from 'node:crypto'

/** The certificates in a PEM text, in its order; what is no certificate is passed over. */
export function certificatesIn(pem: string): X509Certificate[] {
  return pem
    .split('-----BEGIN CERTIFICATE-----')
    .slice(1)
    .map(parseBlock)
    .filter((certificate) => certificate !== undefined)
}

/** The union of PEM texts as a set: no certificate twice, none that has expired, the same order whatever came first. */
export function mergeBundles(pems: string[], now: number): string {
  const live = pems.flatMap(certificatesIn).filter((certificate) => certificate.validToDate.getTime() > now)
  const byFingerprint = new Map(live.map((certificate) => [certificate.fingerprint256, certificate.toString()]))
  return [...byFingerprint]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, pem]) => pem)
    .join('')
}

/** Whether every certificate of `part` is in `bundle`. */
export function bundleHolds(bundle: string, part: string): boolean {
  const held = fingerprints(bundle)
  return fingerprints(part).isSubsetOf(held)
}

/** Whether two bundles hold the same certificates, in whatever order and between whatever other text. */
export function sameBundle(a: string, b: string): boolean {
  return bundleHolds(a, b) && bundleHolds(b, a)
}

/** A bundle as `clientConfig.caBundle` carries it. */
export function toCaBundle(pem: string): string {
  return Buffer.from(pem).toString('base64')
}

/** The PEM text in a `clientConfig.caBundle`; an absent one is empty. */
export function fromCaBundle(caBundle: string | undefined): string {
  return Buffer.from(caBundle ?? '', 'base64').toString('utf8')
}

/** What tells certificates apart. */
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
