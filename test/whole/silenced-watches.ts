import { once } from 'node:events'
import { type IncomingMessage, createServer } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { basename } from 'node:path'

export type SilencedWatches = {
  url: string
  /** The kinds whose watches are open, by their plural. */
  watched(): string[]
  /** Silences the open watches, which stay open. Other calls, and later watches, are answered as before. */
  silence(): void
  close(): Promise<void>
}

/** Opens a proxy to an API server whose watches a test can silence. */
export async function silencedWatches(target: string): Promise<SilencedWatches> {
  const watches = new Map<IncomingMessage, string>()
  const server = createServer((asked, reply) => {
    const { pathname, searchParams } = new URL(asked.url ?? '/', target)
    const { method, headers } = asked
    const call = request(
      new URL(asked.url ?? '/', target),
      { method, headers, rejectUnauthorized: false },
      (answer) => {
        reply.writeHead(answer.statusCode ?? 502, answer.headers).flushHeaders()
        answer.pipe(reply)
        if (!searchParams.has('watch')) return
        watches.set(answer, basename(pathname))
        answer.once('close', () => watches.delete(answer))
      },
    )
    call.on('error', () => reply.destroy())
    reply.on('close', () => call.destroy())
    asked.pipe(call)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    watched: () => [...watches.values()],
    silence() {
      for (const watch of watches.keys()) watch.unpipe()
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
