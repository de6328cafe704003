import { generateKeyPairSync } from 'node:crypto'
import forge from 'node-forge'
import type { KeyPair } from '../../certs/cert-source.ts'

const hourMs = 3_600_000

/** Issues a client certificate, as an operator does for an API server. */
export function issueClient({ authority, name }: { authority: KeyPair; name: string }): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const cert = forge.pki.createCertificate()
  cert.publicKey = forge.pki.publicKeyFromPem(publicKey)
  cert.serialNumber = '01'
  cert.setSubject([{ name: 'commonName', value: name }])
  cert.setIssuer(forge.pki.certificateFromPem(authority.cert).subject.attributes)
  cert.validity.notBefore = new Date(Date.now() - hourMs)
  cert.validity.notAfter = new Date(Date.now() + hourMs)
  cert.setExtensions([
    { name: 'keyUsage', critical: true, digitalSignature: true },
    { name: 'extKeyUsage', clientAuth: true },
  ])
  cert.sign(forge.pki.privateKeyFromPem(authority.key), forge.md.sha256.create())
  return { cert: forge.pki.certificateToPem(cert), key: privateKey }
}
