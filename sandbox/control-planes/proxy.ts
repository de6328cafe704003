// A proxy for its machine's API server. It makes the answers slow or bad on request. Call it as `node proxy.ts
// CERTIFICATE KEY AUTHORITY CONTROL_SOCKET ADDRESS...`; it runs until it is ended.
import { readFileSync, rmSync } from 'node:fs'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import { Agent, createServer as createTlsServer, request } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { ports } from './args.ts'
import type { ProxyAnswer } from './proxy-control.ts'

const [certificate = '', key = '', authority = '', controlSocket = '', ...addresses] = process.argv.slice(2)
const agent = new Agent({ keepAlive: true, ca: readFileSync(authority) })
let current: ProxyAnswer = {}

async function answer(asked: IncomingMessage, given: ServerResponse): Promise<void> {
  const { delayMs = 0, status } = current
  if (delayMs > 0) await sleep(delayMs)
  if (status !== undefined) return void given.writeHead(status).end('as the proxy was told')
  const { method = 'GET', url: path, headers } = asked
  const call = request({ host: '127.0.0.1', port: ports.api, method, path, headers, agent }, (answered) => {
    given.writeHead(answered.statusCode ?? 502, answered.headers)
    answered.pipe(given)
    answered.on('error', () => given.destroy())
  })
  // The client sees what a stopped server shows: a closed connection.
  call.on('error', () => asked.socket.destroy())
  given.on('close', () => call.destroy())
  asked.pipe(call)
}

function obey(asked: IncomingMessage, given: ServerResponse): void {
  let text = ''
  asked.setEncoding('utf8').on('data', (part: string) => {
    text += part
  })
  asked.on('end', () => {
    current = JSON.parse(text) as ProxyAnswer
    given.end()
  })
}

const pair = { cert: readFileSync(certificate), key: readFileSync(key) }
for (const address of addresses) {
  createTlsServer(pair, (asked, given) => void answer(asked, given)).listen(ports.api, address)
}
// A killed proxy leaves its socket file behind.
rmSync(controlSocket, { force: true })
createServer(obey).listen(controlSocket)
