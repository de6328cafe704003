import fastify, { type FastifyInstance } from 'fastify'
import type { CertSource } from '../../certs/cert-source.ts'

/** The API server takes objects of 3 MiB, and a review may hold two of them; fastify's 1 MiB would refuse these. */
const bodyLimit = 7 * 2 ** 20

/** The API server keeps idle connections for 90 s: it has to be the one that closes, or a review meets a closed door. */
const keepAliveTimeout = 120_000

/** An HTTPS server whose certificate is renewed without a restart; connections that are open keep the old one. */
export function tlsApp(certs: CertSource): FastifyInstance {
  const pair = certs.current()
  if (!pair) throw new Error('there is no serving certificate')
  const app = fastify({
    https: pair,
    bodyLimit,
    keepAliveTimeout,
    requestTimeout: 35_000,
    return503OnClosing: false,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
  })
  certs.onChange(() => {
    const renewed = certs.current()
    if (renewed && 'setSecureContext' in app.server) app.server.setSecureContext(renewed)
  })
  return app
}
