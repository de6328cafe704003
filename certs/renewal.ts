import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { KeyPair } from './cert-source.ts'

/** Why a certificate and its key cannot be used now; undefined if they can. */
export function unusableReason(pair: KeyPair, now: number): string | undefined {
  const parsed = parse(pair)
  if (typeof parsed === 'string') return parsed
  const { certificate, key } = parsed
  if (!certificate.checkPrivateKey(key)) return 'the private key is not the key of the certificate'
  if (certificate.validToDate.getTime() <= now) return `expired at ${certificate.validToDate.toISOString()}`
  if (certificate.validFromDate.getTime() > now) return `not valid before ${certificate.validFromDate.toISOString()}`
  return undefined
}

/** Why a certificate must be renewed; undefined if it suits these hosts and this authority. */
export function renewalReason(
  pair: KeyPair,
  now: number,
  wanted: { hosts?: string[]; authority?: string } = {},
): string | undefined {
  const unusable = unusableReason(pair, now)
  if (unusable !== undefined) return unusable
  const certificate = new X509Certificate(pair.cert)
  const authority = wanted.authority === undefined ? undefined : new X509Certificate(wanted.authority)
  return (
    issuerReason(certificate, authority) ??
    hostReason(certificate, wanted.hosts ?? []) ??
    ageReason(certificate, now, authority)
  )
}

function issuerReason(certificate: X509Certificate, authority: X509Certificate | undefined): string | undefined {
  if (!authority) return undefined
  const issued = certificate.checkIssued(authority) && certificate.verify(authority.publicKey)
  return issued ? undefined : 'not issued by the current CA'
}

/** A host that is no longer needed does not count: during a reinstallation, a configuration is absent for a moment. */
function hostReason(certificate: X509Certificate, hosts: string[]): string | undefined {
  const missing = hosts.filter((host) => !isValidFor(certificate, host))
  return missing.length > 0 ? `does not name ${missing.join(', ')}` : undefined
}

function isValidFor(certificate: X509Certificate, host: string): boolean {
  if (isIP(host)) return certificate.checkIP(host) !== undefined
  return certificate.checkHost(host, { subject: 'never', wildcards: false }) !== undefined
}

function ageReason(certificate: X509Certificate, now: number, authority: X509Certificate | undefined) {
  const endsMs = certificate.validToDate.getTime()
  // A new leaf would expire at the same time, so in the last hour of an authority every check would renew.
  if (authority && endsMs >= authority.validToDate.getTime()) return undefined
  const lifeMs = endsMs - certificate.validFromDate.getTime()
  return endsMs - now < lifeMs / 3
    ? `less than a third of its lifetime is left, it expires at ${new Date(endsMs).toISOString()}`
    : undefined
}

function parse(pair: KeyPair): { certificate: X509Certificate; key: KeyObject } | string {
  const certificate = parsedOrUndefined(() => new X509Certificate(pair.cert))
  if (!certificate) return pair.cert.trim() === '' ? 'there is no certificate' : 'the certificate is malformed'
  const key = parsedOrUndefined(() => createPrivateKey(pair.key))
  if (!key) return pair.key.trim() === '' ? 'there is no private key' : 'the private key is malformed'
  return { certificate, key }
}

/** The parsed value, or undefined. OpenSSL has a dozen errors for malformed input, none of which helps an operator. */
function parsedOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
