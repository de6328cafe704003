import type { Server, Socket } from 'node:net'

/**
 * Follows the connections that have carried no request yet, and answers how to be rid of them for good. API servers dial
 * ahead and may never use a connection; Node, told to close, waits for those however long they stay silent.
 */
export function silentConnections(server: Server): () => void {
  const silent = new Map<string, Socket>()
  let closing = false
  server.on('connection', (socket: Socket) => {
    if (closing) return void socket.destroy()
    const end = farEnd(socket)
    silent.set(end, socket)
    socket.once('close', () => silent.get(end) === socket && silent.delete(end))
  })
  // A request comes on the TLS socket, a connection on the one beneath it: they share the far end alone.
  server.on('request', ({ socket }: { socket: Socket }) => void silent.delete(farEnd(socket)))
  return () => {
    closing = true
    for (const socket of silent.values()) socket.destroy()
  }
}

function farEnd({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
