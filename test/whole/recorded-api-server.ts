import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

export type RecordedApiServer = {
  url: string
  /** Each request: its method, and its path with the query. */
  requests: string[]
  close(): Promise<void>
}

/** An API server that passes every request on to the real one, and remembers which they were. */
export async function recordRequests({ url: target, dir }: { url: string; dir: string }): Promise<RecordedApiServer> {
  const cert = readFileSync(join(dir, 'certs', 'apiserver.crt'))
  const key = readFileSync(join(dir, 'certs', 'apiserver.key'))
  const requests: string[] = []
  const server = createServer({ cert, key }, (asked, reply) => {
    const { method = '', url = '', headers } = asked
    requests.push(`${method} ${url}`)
    const onward = request(new URL(url, target), { method, headers, ca: cert, agent: false }, (answer) => {
      reply.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(reply)
    })
    onward.on('error', () => reply.destroy())
    asked.pipe(onward)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}
