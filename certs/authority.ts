import { constants, generateKeyPair, privateEncrypt, randomBytes, X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { promisify } from 'node:util'
import forge from 'node-forge'
import type { KeyPair } from './cert-source.ts'
import { backdateMs } from './lifetimes.ts'

// Clients ignore it and compare the alternative names. A Service's name can be too long for a common name.
const leafName = [{ name: 'commonName', value: 'eip-admission' }]

/** Issues a new self-signed CA. */
export async function issueAuthority(wanted: {
  commonName: string
  now: number
  lifetimeMs: number
}): Promise<KeyPair> {
  const keys = await newKeys()
  const name = [{ name: 'commonName', value: wanted.commonName }]
  const cert = draft(keys.publicKey, { subject: name, issuer: name })
  setValidity(cert, wanted, wanted.now + wanted.lifetimeMs)
  cert.setExtensions([
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
    { name: 'subjectKeyIdentifier' },
    { name: 'authorityKeyIdentifier', keyIdentifier: true },
  ])
  return { cert: sign(cert, keys.privateKey), key: keys.privateKey }
}

/** Issues a serving certificate for these DNS names and IP addresses. It expires no later than its authority. */
export async function issueLeaf(wanted: {
  authority: KeyPair
  hosts: string[]
  now: number
  lifetimeMs: number
  /** The key pair, if it is already being generated. */
  keys?: Promise<Keys> | undefined
}): Promise<KeyPair> {
  const keys = await (wanted.keys ?? newKeys())
  const authority = forge.pki.certificateFromPem(wanted.authority.cert)
  const cert = draft(keys.publicKey, { subject: leafName, issuer: authority.subject.attributes })
  const authorityEndsMs = new X509Certificate(wanted.authority.cert).validToDate.getTime()
  setValidity(cert, wanted, Math.min(wanted.now + wanted.lifetimeMs, authorityEndsMs))
  cert.setExtensions([
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames: wanted.hosts.map(altName) },
    { name: 'subjectKeyIdentifier' },
    { name: 'authorityKeyIdentifier', keyIdentifier: authority.generateSubjectKeyIdentifier().getBytes() },
  ])
  return { cert: sign(cert, wanted.authority.key), key: keys.privateKey }
}

export type Keys = { publicKey: string; privateKey: string }

/**
 * Generates an RSA pair, the only keys that node-forge supports for certificates; on the thread pool, not the event
 * loop.
 */
export function newKeys(): Promise<Keys> {
  return promisify(generateKeyPair)('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
}

type Names = { subject: forge.pki.CertificateField[]; issuer: forge.pki.CertificateField[] }

function draft(publicKey: string, names: Names): forge.pki.Certificate {
  const cert = forge.pki.createCertificate()
  cert.publicKey = forge.pki.publicKeyFromPem(publicKey)
  cert.serialNumber = newSerial()
  cert.setSubject(names.subject)
  cert.setIssuer(names.issuer)
  return cert
}

/** 16 random bytes with the sign bit off and the next bit on: a positive integer that DER encodes without padding. */
function newSerial(): string {
  const bytes = randomBytes(16)
  bytes[0] = (bytes.readUInt8(0) & 0x3f) | 0x40
  return bytes.toString('hex')
}

function setValidity(cert: forge.pki.Certificate, from: { now: number; lifetimeMs: number }, endsMs: number): void {
  cert.validity.notBefore = new Date(from.now - backdateMs(from.lifetimeMs))
  cert.validity.notAfter = new Date(endsMs)
}

/** The general names of RFC 5280, 4.2.1.6: 7 is an IP address, 2 a DNS name. */
function altName(host: string): object {
  return isIP(host) ? { type: 7, ip: host } : { type: 2, value: host }
}

// DER of DigestInfo up to the digest, for SHA-256 (RFC 8017, 9.2, note 1).
const digestInfo = Buffer.from('3031300d060960864801650304020105000420', 'hex')

/** Signs with OpenSSL in 1 ms. node-forge signs in JavaScript, which blocks the event loop for 100 ms. */
function sign(cert: forge.pki.Certificate, key: string): string {
  const signer = {
    sign(digest: forge.md.MessageDigest): string {
      const info = Buffer.concat([digestInfo, Buffer.from(digest.digest().getBytes(), 'binary')])
      return privateEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, info).toString('binary')
    },
  }
  cert.sign(signer as unknown as forge.pki.rsa.PrivateKey, forge.md.sha256.create())
  return forge.pki.certificateToPem(cert).replaceAll('\r\n', '\n')
}
