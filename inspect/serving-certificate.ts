import { once } from 'node:events'
import { connect } from 'node:tls'
import type { ClientConfig, WebhookConfiguration } from '../kube/objects.ts'
import type { Values } from './facts.ts'

const timeoutMs = 3_000

/** The certificate that the webhooks serve; undefined where this machine does not reach them, as outside the cluster. */
export async function servingCertificate(
  configuration: WebhookConfiguration | undefined,
): Promise<Values['servingCertificate']> {
  const at = placeOf(configuration?.webhooks?.[0]?.clientConfig)
  if (!at) return undefined
  // Whom we trust does not matter: we only read the certificate, and send nothing.
  const socket = connect({ ...at, servername: '', rejectUnauthorized: false, timeout: timeoutMs })
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(timeoutMs) })
    const certificate = socket.getPeerX509Certificate()
    return certificate && { place: `${at.host}:${at.port}`, endsAt: certificate.validToDate }
  } catch {
    return undefined
  } finally {
    socket.destroy()
  }
}

function placeOf(config: ClientConfig | undefined): { host: string; port: number } | undefined {
  const { service, url } = config ?? {}
  if (service) return { host: `${service.name}.${service.namespace}.svc`, port: service.port ?? 443 }
  const parsed = URL.parse(url ?? '')
  return parsed ? { host: parsed.hostname.replace(/^\[|\]$/g, ''), port: Number(parsed.port || 443) } : undefined
}
