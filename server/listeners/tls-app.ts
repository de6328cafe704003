import type { SecureContextOptions } from 'node:tls'
import fastify, { type FastifyInstance } from 'fastify'
import type { CertSource } from '../../certs/cert-source.ts'
import { type KnownClients, onlyKnownClients } from './client-certificates.ts'

/** The API server accepts objects of 3 MiB, and a review may contain two of them. Fastify's default of 1 MiB is too small. */
const bodyLimit = 7 * 2 ** 20

/** The API server keeps idle connections for 90 s. If we closed them earlier, a review could hit a closed connection. */
const keepAliveTimeout = 120_000

/** Ends silent connections. Node looks only at intervals for those without a complete request. */
const patience = { handshakeTimeout: 10_000, headersTimeout: 20_000, requestTimeout: 35_000 }
const connectionsCheckingInterval = 5_000

/** Which versions and cipher suites clients may choose, in the words of Node. */
export type TlsOptions = Pick<SecureContextOptions, 'minVersion' | 'ciphers'>

/**
 * An HTTPS server that replaces its certificate and its clients' authorities without a restart. Open connections keep
 * the old ones.
 */
export function tlsApp(certs: CertSource, tls: TlsOptions, clients?: KnownClients): FastifyInstance {
  const context = () => {
    const pair = certs.current()
    return pair && { ...pair, ...tls, ...(clients && { ca: clients.authorities.current() }) }
  }
  const first = context()
  if (!first) throw new Error('there is no serving certificate')
  const app = fastify({
    // An unknown client gets an answer with the reason, which a failed handshake cannot give.
    https: {
      ...first,
      ...patience,
      connectionsCheckingInterval,
      requestCert: clients !== undefined,
      rejectUnauthorized: false,
    },
    bodyLimit,
    keepAliveTimeout,
    requestTimeout: patience.requestTimeout,
    return503OnClosing: false,
    ajv: { customOptions: { coerceTypes: false, removeAdditional: false } },
  })
  const renew = () => {
    const renewed = context()
    if (renewed && 'setSecureContext' in app.server) app.server.setSecureContext(renewed)
  }
  certs.onChange(renew)
  clients?.authorities.onChange(renew)
  // This hook comes first, so that an operator can test on any path whether callers without a certificate are refused.
  if (clients) onlyKnownClients(app, clients)
  refuseUnknownPaths(app)
  return app
}

/**
 * Fastify would parse the body of a request before its own 404. An unknown caller gets its answer at once, and its
 * connection is closed.
 */
function refuseUnknownPaths(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', (request, reply, next) => {
    if (!request.is404) return next()
    reply.code(404).header('connection', 'close').send({ error: 'not found' })
  })
}
