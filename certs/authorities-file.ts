import type { X509Certificate } from 'node:crypto'
import { certificatesIn } from './bundle.ts'
import { fileFault, readSmallFile } from '../lib/small-file.ts'

/** The certificates of authorities in PEM, or the problem of the file. */
export type AuthoritiesFile = { pem: string; wrong?: never } | { pem?: never; wrong: string }

/** Reads the PEM file of the authorities that sign client certificates. */
export function readAuthorities(path: string): AuthoritiesFile {
  let pem: string
  try {
    pem = readSmallFile(path)
  } catch (error) {
    return { wrong: fileFault(error) }
  }
  const certificates = certificatesIn(pem)
  const wrong = certificates.length === 0 ? 'holds no certificate' : findProblem(certificates)
  return wrong === undefined ? { pem: certificates.map(String).join('') } : { wrong }
}

/** The problem of certificates that OpenSSL accepts, but with which it would later refuse every client without a reason. */
function findProblem(certificates: X509Certificate[]): string | undefined {
  const leaf = certificates.find(({ ca }) => !ca)
  if (leaf) return `contains the certificate of ${leaf.subject}, which is not a CA`
  const incomplete = certificates.find((one) => !certificates.some((issuer) => one.checkIssued(issuer)))
  if (incomplete) return `holds ${incomplete.subject} without its issuer ${incomplete.issuer}`
  const allExpired = certificates.every(({ validToDate }) => validToDate.getTime() <= Date.now())
  return allExpired ? 'contains only expired certificates' : undefined
}
