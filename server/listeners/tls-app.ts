import fastify, { type FastifyInstance } from 'fastify'
import type { CertSource } from '../../certs/cert-source.ts'
import { type KnownClients, onlyKnownClients } from './client-certificates.ts'

/** The API server takes objects of 3 MiB, and a review may hold two of them; fastify's 1 MiB would refuse these. */
const bodyLimit = 7 * 2 ** 20

/** The API server keeps idle connections for 90 s: it has to be the one that closes, or a review meets a closed door. */
const keepAliveTimeout = 120_000

/**
 * An HTTPS server whose certificate is renewed without a restart, as are the authorities by which it knows its clients
 * where it asks for them; connections that are open keep the old ones.
 */
export function tlsApp(certs: CertSource, clients?: KnownClients): FastifyInstance {
  const context = () => {
    const pair = certs.current()
    return pair && { ...pair, ...(clients && { ca: clients.authorities.current() }) }
  }
  const first = context()
  if (!first) throw new Error('there is no serving certificate')
  const app = fastify({
    // A stranger is refused in words, which a broken handshake has not.
    https: { ...first, requestCert: clients !== undefined, rejectUnauthorized: false },
    bodyLimit,
    keepAliveTimeout,
    requestTimeout: 35_000,
    return503OnClosing: false,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
  })
  const renew = () => {
    const renewed = context()
    if (renewed && 'setSecureContext' in app.server) app.server.setSecureContext(renewed)
  }
  certs.onChange(renew)
  clients?.authorities.onChange(renew)
  if (clients) onlyKnownClients(app, clients)
  return app
}
