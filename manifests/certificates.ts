import type { Choices } from './choices.ts'
import { names } from '../settings/installed-names.ts'

const apiVersion = 'cert-manager.io/v1'
const issuers = { selfSigned: 'eip-admission-selfsigned', authority: names.issuingAuthority }

/** An authority that cert-manager makes only for us, where no other issuer is named. */
export function ownIssuers({ release: { namespace } }: Choices): object[] {
  return [
    { apiVersion, kind: 'Issuer', metadata: { name: issuers.selfSigned, namespace }, spec: { selfSigned: {} } },
    {
      apiVersion,
      kind: 'Certificate',
      metadata: { name: names.issuingAuthority, namespace },
      spec: {
        isCA: true,
        commonName: 'eip-admission CA of cert-manager',
        secretName: names.issuingAuthority,
        duration: '87600h',
        privateKey: { algorithm: 'ECDSA', size: 256 },
        issuerRef: { name: issuers.selfSigned, kind: 'Issuer' },
      },
    },
    {
      apiVersion,
      kind: 'Issuer',
      metadata: { name: issuers.authority, namespace },
      spec: { ca: { secretName: names.issuingAuthority } },
    },
  ]
}

/** The serving certificate of the webhooks, for the names under which the API server calls them. */
export function servingCertificate({ block, items, release: { namespace }, text }: Choices): object {
  const host = `${names.webhookService}.${namespace}.svc`
  return {
    apiVersion,
    kind: 'Certificate',
    metadata: { name: names.certificate, namespace },
    spec: {
      secretName: names.certificateSecret,
      dnsNames: [host, `${host}.cluster.local`, ...items('certManager.dnsNames')],
      ipAddresses: block('certManager.ipAddresses'),
      usages: ['server auth'],
      duration: text('certManager.duration'),
      renewBefore: text('certManager.renewBefore'),
      privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
      issuerRef: block('certManager.issuerRef'),
    },
  }
}

/** The annotation by which cert-manager's cainjector writes the authority into a webhook configuration. */
export function injection({ release }: Choices): object {
  return { 'cert-manager.io/inject-ca-from': `${release.namespace}/${names.certificate}` }
}
