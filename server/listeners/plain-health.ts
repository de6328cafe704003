import { once } from 'node:events'
import { nodeHttp } from '../../lib/node-http.ts'
import { type HealthOptions, answerHealth } from './health.ts'
import { type Address, portOpener } from './open-port.ts'
import type { Log } from '../../kube/log.ts'

/** Ends silent connections. */
const patience = { headersTimeout: 10_000, requestTimeout: 20_000, keepAliveTimeout: 30_000 }

/** A kubelet and Prometheus need a handful. */
const maxConnections = 50

export type PlainHealth = { close(): Promise<void> }

/** Serves health and metrics over plain HTTP, for a process that has no certificate. */
export async function openPlainHealth(at: Address, options: HealthOptions & { log: Log }): Promise<PlainHealth> {
  const server = nodeHttp.createServer(patience, (request, response) => {
    // Not by URL, which throws where a client sends none.
    const [pathname = ''] = request.url?.split('?') ?? []
    const path = request.method === 'GET' || request.method === 'HEAD' ? pathname : ''
    void answerHealth(path, options).then(({ status, type, text }) =>
      response.writeHead(status, { 'content-type': type }).end(request.method === 'HEAD' ? undefined : text),
    )
  })
  server.maxConnections = maxConnections
  await portOpener(options.log)('health', at, (free) => once(server.listen(free), 'listening'))
  return {
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
