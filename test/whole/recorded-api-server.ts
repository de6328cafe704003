import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

export type RecordedApiServer = {
  url: string
  /** Each request: its method, and its path with the query. */
  requests: string[]
  close(): Promise<void>
}

/**
 * A proxy that forwards every request to the real API server, and remembers it. All objects in its answers are older by
 * `ageMs`.
 */
export async function recordRequests(
  { url: target, dir }: { url: string; dir: string },
  { ageMs = 0 }: { ageMs?: number } = {},
): Promise<RecordedApiServer> {
  const cert = readFileSync(join(dir, 'certs', 'apiserver.crt'))
  const key = readFileSync(join(dir, 'certs', 'apiserver.key'))
  const requests: string[] = []
  const server = createServer({ cert, key }, (asked, reply) => {
    const { method = '', url = '', headers } = asked
    requests.push(`${method} ${url}`)
    const onward = request(new URL(url, target), { method, headers, ca: cert, agent: false }, (answer) => {
      reply.writeHead(answer.statusCode ?? 500, answer.headers)
      void (ageMs === 0 ? answer.pipe(reply) : passAged(answer, { reply, ageMs }))
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

/** The new texts are as long as the old ones, so every header stays valid. */
async function passAged(answer: IncomingMessage, { reply, ageMs }: { reply: ServerResponse; ageMs: number }) {
  const whole = await text(answer)
  const older = (time: string) => new Date(Date.parse(time) - ageMs).toISOString().replace(/\.\d+/, '')
  reply.end(whole.replaceAll(/(?<="creationTimestamp":")[^"]+/g, older))
}
