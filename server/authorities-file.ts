import type { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { certificatesIn } from '../certs/bundle.ts'
import { fileFault } from './file-fault.ts'

/** Certificates of authorities, or why the file is not to be trusted. */
export type AuthoritiesFile = { pem: string; wrong?: never } | { pem?: never; wrong: string }

/** Reads a PEM file by which others shall be known. */
export function readAuthorities(path: string): AuthoritiesFile {
  let pem: string
  try {
    pem = readFileSync(path, 'utf8')
  } catch (error) {
    return { wrong: fileFault(error) }
  }
  const certificates = certificatesIn(pem)
  const wrong = certificates.length === 0 ? 'holds no certificate' : wrongWith(certificates)
  return wrong === undefined ? { pem: certificates.map(String).join('') } : { wrong }
}

/** OpenSSL would take any of these, and then refuse every client without a word of why. */
function wrongWith(certificates: X509Certificate[]): string | undefined {
  const person = certificates.find(({ ca }) => !ca)
  if (person) return `holds the certificate of ${person.subject}, which is no authority`
  const rootless = certificates.find((one) => !certificates.some((issuer) => one.checkIssued(issuer)))
  if (rootless) return `holds ${rootless.subject} without its issuer ${rootless.issuer}`
  const isOver = certificates.every(({ validToDate }) => validToDate.getTime() <= Date.now())
  return isOver ? 'holds only certificates that have expired' : undefined
}
