import type { SecureContextOptions } from 'node:tls'
import fastify, { type FastifyInstance } from 'fastify'
import type { CertSource } from '../../certs/cert-source.ts'
import { type KnownClients, onlyKnownClients } from './client-certificates.ts'

/** The API server accepts objects of 3 MiB, and a review may hold two of them. Fastify's default of 1 MiB is too small. */
const bodyLimit = 7 * 2 ** 20

/** The API server keeps idle connections for 90 s. If we closed first, a review could meet a closed connection. */
const keepAliveTimeout = 120_000

/** Ends silent connections. Node looks for those without a whole request only now and then. */
const patience = { handshakeTimeout: 10_000, headersTimeout: 20_000, requestTimeout: 35_000 }
const connectionsCheckingInterval = 5_000

/** Which versions and cipher suites clients may choose, in the words of Node. */
export type TlsOptions = Pick<SecureContextOptions, 'minVersion' | 'ciphers'>

/**
 * An HTTPS server that renews its certificate, and the authorities of its clients, without a restart. Connections that
 * are open keep the old ones.
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
  // First: an operator who calls any path without a certificate sees whether strangers are refused.
  if (clients) onlyKnownClients(app, clients)
  refuseUnknownPaths(app)
  return app
}

/**
 * Fastify would parse the body of a request before its own 404. A caller that has no business here gets its answer at
 * once, and no connection to keep.
 */
function refuseUnknownPaths(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addHook('onRequest', (request, reply, next) => {
    if (!request.is404) return next()
    reply.code(404).header('connection', 'close').send({ error: 'not found' })
  })
}
