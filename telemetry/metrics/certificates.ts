import { certificatesIn } from '../../certs/bundle.ts'
import type { CertSource } from '../../certs/cert-source.ts'
import type { Metrics } from './metrics.ts'

/** When the certificates of the webhooks expire. */
export function readCertificates(metrics: Metrics, certs: CertSource): void {
  metrics.read('eip_admission_cert_not_after_seconds', () => inSeconds(certs.notAfterMs()))
  metrics.read('eip_admission_ca_not_after_seconds', () => {
    const ends = certificatesIn(certs.caBundle()).map(({ validToDate }) => validToDate.getTime())
    return ends.length === 0 ? undefined : inSeconds(Math.min(...ends))
  })
}

function inSeconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000
}
