import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import type { KeyPair } from '../../certs/cert-source.ts'

export type Door = { server: tls.Server; port: number; serve(pair: KeyPair): void; close(): void }

/** A TLS server as the process has one: the certificate can be exchanged while it listens. */
export async function openDoor(pair: KeyPair): Promise<Door> {
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

/** What a client that trusts only this bundle says of the server: `ok`, or why it refuses it. */
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
