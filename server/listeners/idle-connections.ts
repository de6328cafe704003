import type { Server, Socket } from 'node:net'

/**
 * Follows the connections that have carried no request yet; the result closes them and every new one. API servers open
 * connections ahead and may never use them. A Node server that closes waits for such connections without a limit.
 */
export function idleConnections(server: Server): () => void {
  const idle = new Map<string, Socket>()
  let isClosing = false
  server.on('connection', (socket: Socket) => {
    if (isClosing) return void socket.destroy()
    const remote = remoteOf(socket)
    idle.set(remote, socket)
    socket.once('close', () => idle.get(remote) === socket && idle.delete(remote))
  })
  // A request arrives on the TLS socket, a connection on the one below it. Both have the same remote address and port.
  server.on('request', ({ socket }: { socket: Socket }) => void idle.delete(remoteOf(socket)))
  return () => {
    isClosing = true
    for (const socket of idle.values()) socket.destroy()
  }
}

function remoteOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
