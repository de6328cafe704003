import type { FastifyInstance } from 'fastify'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Log } from '../../kube/log.ts'
import type { ClientAuthorities } from './client-authorities.ts'

export type KnownClients = {
  authorities: ClientAuthorities
  /** Common names that a certificate may have; any if empty. */
  names: readonly string[]
  log: Log
}

/** Unknown callers can retry as often as they like; the log shows only one per minute. */
const warnMs = 60_000

/** Refuses callers without a certificate from these authorities, before their request body is read. */
export function onlyKnownClients(app: FastifyInstance, { authorities, names, log }: KnownClients): void {
  let verified = new WeakSet<Socket>()
  let warnedAtMs = -Infinity
  app.server.on('secureConnection', (socket: TLSSocket) => void verified.add(socket))
  authorities.onChange(() => (verified = new WeakSet()))
  app.addHook('onRequest', ({ raw: { socket } }, reply, next) => {
    // The authorities have changed since they verified this connection, so the next request needs a new verification.
    if (!verified.has(socket)) reply.header('connection', 'close')
    const reason = reasonToRefuse(socket as TLSSocket, names)
    if (reason === undefined) return next()
    if (performance.now() - warnedAtMs > warnMs) {
      warnedAtMs = performance.now()
      log.warn({ from: socket.remoteAddress, reason }, 'caller of a webhook refused')
    }
    reply.code(403).header('connection', 'close').send({ error: reason })
  })
}

/** Why a caller is refused, for the API server's log; undefined if the caller is known. */
function reasonToRefuse(socket: TLSSocket, names: readonly string[]): string | undefined {
  const { subject } = socket.getPeerCertificate()
  // A client that knows our authorities presents no certificate of another authority.
  if (subject === undefined) return 'no client certificate from a known CA was presented'
  if (!socket.authorized) return `the client certificate cannot be used: ${String(socket.authorizationError)}`
  const { CN: name } = subject
  if (names.length === 0 || (typeof name === 'string' && names.includes(name))) return undefined
  return `the client certificate belongs to ${JSON.stringify(name)}, which may not call webhooks`
}
