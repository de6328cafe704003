import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type Server, createServer } from 'node:net'

/**
 * Below the ports that systems give to outgoing connections, which would take one while its program starts anew, and
 * Services'. Whoever runs several of us at a time gives each a part of its own, like `10000-15000`.
 */
const [first = 0, end = 0] = (process.env['SANDBOX_PORTS'] ?? '10000-30000').split('-').map(Number)

const given = new Set<number>()

/** Loopback ports that nobody listened on a moment ago, and that this process was never given before. */
export async function freePorts(count: number): Promise<number[]> {
  const held = new Map<number, Server>()
  while (held.size < count) {
    const port = randomInt(first, end)
    const server = given.has(port) ? undefined : await listening(port)
    if (!server) continue
    given.add(port)
    held.set(port, server)
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
