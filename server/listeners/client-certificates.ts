import type { FastifyInstance } from 'fastify'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Log } from '../../kube/log.ts'
import type { ClientAuthorities } from './client-authorities.ts'

export type KnownClients = {
  authorities: ClientAuthorities
  /** Common names that a certificate may carry; empty is any. */
  names: readonly string[]
  log: Log
}

/** Strangers can knock as often as they like, and fill no log. */
const complainMs = 60_000

/** Turns away, before anything of a body is read, who shows no certificate of these authorities. */
export function onlyKnownClients(app: FastifyInstance, { authorities, names, log }: KnownClients): void {
  let verified = new WeakSet<Socket>()
  let complainedAtMs = -Infinity
  app.server.on('secureConnection', (socket: TLSSocket) => void verified.add(socket))
  authorities.onChange(() => (verified = new WeakSet()))
  app.addHook('onRequest', ({ raw: { socket } }, reply, next) => {
    // Verified by authorities that have changed since: the next request has to be verified by those of now.
    if (!verified.has(socket)) reply.header('connection', 'close')
    const reason = strangeness(socket as TLSSocket, names)
    if (reason === undefined) return next()
    if (performance.now() - complainedAtMs > complainMs) {
      complainedAtMs = performance.now()
      log.warn({ from: socket.remoteAddress, reason }, 'caller of a webhook turned away')
    }
    reply.code(403).header('connection', 'close').send({ error: reason })
  })
}

/** Why a caller is not known, in words that reach the API server's log; undefined when it is. */
function strangeness(socket: TLSSocket, names: readonly string[]): string | undefined {
  const { subject } = socket.getPeerCertificate()
  // A client that is told which authorities we know shows none of another.
  if (subject === undefined) return 'no client certificate was shown that one of the known authorities signed'
  if (!socket.authorized) return `the client certificate cannot be used: ${String(socket.authorizationError)}`
  const { CN: name } = subject
  if (names.length === 0 || (typeof name === 'string' && names.includes(name))) return undefined
  return `the client certificate is of ${JSON.stringify(name)}, who may not call webhooks`
}
