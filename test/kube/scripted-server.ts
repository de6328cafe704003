// A local HTTP server whose responses, and faults below HTTP, each test writes itself. It keeps the requests that it received.
import { once } from 'node:events'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { type ConnectOptions, connect } from '../../kube/connect.ts'
import type { Access, Credentials } from '../../kube/credentials.ts'

export type ReceivedRequest = {
  method: string
  path: string
  query: Record<string, string>
  headers: IncomingMessage['headers']
  body: unknown
}

export type Respond = (requests: ReceivedRequest, response: ServerResponse) => void | Promise<void>

export type ScriptedServer = {
  url: string
  requests: ReceivedRequest[]
  /** The connections opened so far, and those that are open now. */
  connections: { opened: number; open: number }
  stop(): Promise<void>
}

async function startServer(respond: Respond): Promise<ScriptedServer> {
  const requests: ReceivedRequest[] = []
  const connections = { opened: 0, open: 0 }
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const one = await read(request)
    requests.push(one)
    await respond(one, response)
  }
  const server = createServer((request, response) => void receive(request, response))
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
    requests,
    connections,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function read(request: IncomingMessage): Promise<ReceivedRequest> {
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

export function sendJson(response: ServerResponse, body: unknown, { status = 200, headers = {} } = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** Sends a Status, as the API server does for an error. */
export function sendStatus(
  response: ServerResponse,
  status: number,
  fields: { reason?: string; message?: string; details?: object; headers?: Record<string, string> } = {},
): void {
  const { headers = {}, ...rest } = fields
  sendJson(
    response,
    { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: status, ...rest },
    { status, headers },
  )
}

/** Credentials that never change. */
function fixed(url: string, token = 'the-secret-token'): Credentials {
  const access: Access = { url, headers: { authorization: `Bearer ${token}` }, tls: {} }
  return { current: async () => access, renew: async () => access }
}

export function clientFor({ url }: { url: string }, options: Omit<ConnectOptions, 'userAgent'> = {}) {
  return connect(fixed(url), { userAgent: 'test/1', ...options })
}

/** Runs a test against a scripted server, and stops it afterwards. */
export async function withServer(respond: Respond, run: (server: ScriptedServer) => Promise<void>): Promise<void> {
  const server = await startServer(respond)
  try {
    await run(server)
  } finally {
    await server.stop()
  }
}

/** The error that a call rejects with. */
export async function errorOf(call: Promise<unknown>): Promise<Error> {
  try {
    await call
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error('the call did not reject')
}

/** Waits until a condition is met. */
export async function until(isSo: () => boolean, what = 'the condition'): Promise<void> {
  for (const deadline = performance.now() + 60_000; !isSo();) {
    if (performance.now() > deadline) throw new Error(`timed out waiting for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
