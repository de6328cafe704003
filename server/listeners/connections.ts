import type { ServerResponse } from 'node:http'
import type { Server, Socket } from 'node:net'

type Connection = { remote: string; socket: Socket; requests: number; inFlight: number; restsSinceMs: number }

export type Connections = {
  /** Closes the connections that have carried no request yet, and every new one. */
  closeUnused: () => void
}

/**
 * Bounds the number of connections. At the maximum a new one takes the place of one that rests. Those that have carried
 * no request go first, so that callers who only occupy places keep no API server out.
 *
 * Connections without a request also have to be known when the server closes. API servers open connections ahead and may
 * never use them, and a Node server that closes waits for such connections without a limit.
 */
export function limitConnections(server: Server, max: number): Connections {
  const connections = new Map<string, Connection>()
  const forget = (connection: Connection) => {
    if (connections.get(connection.remote) === connection) connections.delete(connection.remote)
  }
  let isClosing = false
  server.on('connection', (socket: Socket) => {
    if (isClosing) return void socket.destroy()
    if (connections.size >= max) {
      const replaced = leastNeeded(connections.values())
      if (!replaced) return void socket.destroy()
      forget(replaced)
      replaced.socket.destroy()
    }
    const remote = remoteOf(socket)
    const connection = { remote, socket, requests: 0, inFlight: 0, restsSinceMs: performance.now() }
    connections.set(remote, connection)
    socket.once('close', () => forget(connection))
  })
  // A request arrives on the TLS socket, a connection on the one below it. Both have the same remote address and port.
  server.on('request', ({ socket }: { socket: Socket }, response: ServerResponse) => {
    const connection = connections.get(remoteOf(socket))
    if (!connection) return
    connection.requests += 1
    connection.inFlight += 1
    response.once('close', () => {
      connection.inFlight -= 1
      connection.restsSinceMs = performance.now()
    })
  })
  return {
    closeUnused() {
      isClosing = true
      for (const { socket, requests } of connections.values()) if (requests === 0) socket.destroy()
    },
  }
}

/** The connection that rests and has carried no request, else the one that rests longest; undefined if all are busy. */
function leastNeeded(connections: Iterable<Connection>): Connection | undefined {
  const resting = [...connections].filter(({ inFlight }) => inFlight === 0)
  const unused = resting.filter(({ requests }) => requests === 0)
  const candidates = unused.length > 0 ? unused : resting
  return candidates.reduce<Connection | undefined>(
    (oldest, next) => (oldest && oldest.restsSinceMs <= next.restsSinceMs ? oldest : next),
    undefined,
  )
}

function remoteOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
