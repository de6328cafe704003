import forge from 'node-forge'

/** A certificate for these IP addresses that vouches for itself. */
export function selfSigned(...addresses: string[]): { key: string; cert: string } {
  const keys = forge.pki.rsa.generateKeyPair(2048)
  const certificate = forge.pki.createCertificate()
  const name = [{ name: 'commonName', value: 'kube-apiserver' }]
  certificate.publicKey = keys.publicKey
  certificate.serialNumber = '1f'
  certificate.validity.notAfter = new Date(Date.now() + 3_600_000)
  certificate.setSubject(name)
  certificate.setIssuer(name)
  certificate.setExtensions([
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames: addresses.map((ip) => ({ type: 7, ip })) },
  ])
  certificate.sign(keys.privateKey, forge.md.sha256.create())
  return { key: forge.pki.privateKeyToPem(keys.privateKey), cert: forge.pki.certificateToPem(certificate) }
}
