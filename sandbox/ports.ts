import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { type Server, createServer } from 'node:net'

/**
 * The ports to choose from, outside two other ranges. Outgoing connections could take a port while its program
 * restarts, and node ports belong to Services. Processes that run at the same time get separate parts in SANDBOX_PORTS,
 * such as `10000-15000`.
 */
const [first = 0, end = 0] = (process.env['SANDBOX_PORTS'] ?? '10000-30000').split('-').map(Number)

const given = new Set<number>()

/** Finds loopback ports that are free, and that this process has not returned before. */
export async function freePorts(count: number): Promise<number[]> {
  const held = new Map<number, Server>()
  while (held.size < count) {
    const port = randomInt(first, end)
    const server = given.has(port) ? undefined : await tryListen(port)
    if (!server) continue
    given.add(port)
    held.set(port, server)
  }
  await Promise.all([...held.values()].map((server) => once(server.close(), 'close')))
  return [...held.keys()]
}

/** Returns undefined if another program listens. */
async function tryListen(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return server
  } catch {
    return undefined
  }
}
