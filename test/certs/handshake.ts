import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import type { KeyPair } from '../../certs/cert-source.ts'

export type TlsServer = { server: tls.Server; port: number; serve(pair: KeyPair): void; close(): void }

/** Starts a TLS server like that of the process: its certificate can change while it listens. */
export async function startTlsServer(pair: KeyPair): Promise<TlsServer> {
  const server = tls.createServer(pair, (socket) => {
    socket.on('error', () => socket.destroy())
    socket.end()
  })
  server.on('tlsClientError', (_error, socket) => socket.destroy())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { server, port, serve: (next) => server.setSecureContext(next), close: () => void server.close() }
}

/** The result of a handshake by a client that trusts only this bundle: `ok`, or its error code. */
export async function handshake(port: number, ca: string, host = 'hook.eip.svc'): Promise<string> {
  const identity = (_name: string, peer: tls.PeerCertificate) => tls.checkServerIdentity(host, peer)
  const socket = tls.connect({ port, host: '127.0.0.1', ca: ca === '' ? [] : ca, checkServerIdentity: identity })
  try {
    await once(socket, 'secureConnect')
    return 'ok'
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return code ?? message
  } finally {
    socket.destroy()
  }
}
