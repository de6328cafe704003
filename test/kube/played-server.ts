// An HTTP server that plays the API server's protocol: each test says how it answers, and reads what it was asked.
import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect } from '../../kube/connect.ts'
import type { Access, Credentials } from '../../kube/credentials.ts'

export type Asked = {
  method: string
  path: string
  query: Record<string, string>
  headers: IncomingMessage['headers']
  body: unknown
}

export type Play = (asked: Asked, response: ServerResponse) => void | Promise<void>

export type PlayedServer = {
  url: string
  asked: Asked[]
  /** Connections that were ever opened, and that are open now. */
  connections: { opened: number; open: number }
  stop(): Promise<void>
}

async function playServer(play: Play): Promise<PlayedServer> {
  const asked: Asked[] = []
  const connections = { opened: 0, open: 0 }
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const one = await read(request)
    asked.push(one)
    await play(one, response)
  }
  const server = createServer((request, response) => void take(request, response))
  server.on('connection', (socket) => {
    connections.opened += 1
    connections.open += 1
    socket.on('close', () => (connections.open -= 1))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    connections,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function read(request: IncomingMessage): Promise<Asked> {
  const url = new URL(request.url ?? '/', 'http://server')
  const body = await text(request)
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    headers: request.headers,
    body: body === '' ? undefined : JSON.parse(body),
  }
}

export function answer(response: ServerResponse, body: unknown, { status = 200, headers = {} } = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** A refusal as the API server words it. */
export function refuse(
  response: ServerResponse,
  status: number,
  said: { reason?: string; message?: string; details?: object; headers?: Record<string, string> } = {},
): void {
  const { headers = {}, ...rest } = said
  answer(response, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, ...rest }, { status, headers })
}

/** The same server and token for ever. */
function fixed(url: string, token = 'the-secret-token'): Credentials {
  const access: Access = { url, headers: { authorization: `Bearer ${token}` }, tls: {} }
  return { current: async () => access, renew: async () => access }
}

export function clientOf({ url }: { url: string }, options: { timeoutMs?: number } = {}) {
  return connect(fixed(url), { userAgent: 'test/1', ...options })
}

/** Runs a test against a played server, which is gone afterwards. */
export async function withServer(play: Play, run: (server: PlayedServer) => Promise<void>): Promise<void> {
  const server = await playServer(play)
  try {
    await run(server)
  } finally {
    await server.stop()
  }
}

/** The error that a call is refused with. */
export async function errorOf(call: Promise<unknown>): Promise<Error> {
  try {
    await call
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('the call was not refused')
}

/** Waits until something is so. */
export async function until(isSo: () => boolean, what = 'it'): Promise<void> {
  for (const deadline = performance.now() + 5_000; !isSo();) {
    if (performance.now() > deadline) throw new Error(`${what} did not come`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
