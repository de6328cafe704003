import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type Server, createServer } from 'node:net'

/** Below the ports that systems give to outgoing connections, which would take one while its program starts anew, and Services'. */
const [first, end] = [10_000, 30_000]

/** Loopback ports that nobody listened on a moment ago, all different. */
export async function freePorts(count: number): Promise<number[]> {
  const held = new Map<number, Server>()
  while (held.size < count) {
    const port = randomInt(first, end)
    const server = held.has(port) ? undefined : await listening(port)
    if (server) held.set(port, server)
  }
  await Promise.all([...held.values()].map((server) => once(server.close(), 'close')))
  return [...held.keys()]
}

/** Undefined where somebody else listens. */
async function listening(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return server
  } catch {
    return undefined
  }
}
