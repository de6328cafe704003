import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readResponse } from '../../../clouds/http/answer.ts'
import { connectionError } from '../../../clouds/http/faults.ts'
import { makeSend, type RequestParts, type SendOptions } from '../../../clouds/http/send.ts'
import { failureOf, neverAborted } from '../scripted-server.ts'

const text = JSON.stringify({ name: 'São Paulo', filler: 'x'.repeat(100_000) })
const zipped = gzipSync(text)
const json = { 'content-type': 'application/json' }
const answers: Record<string, (response: ServerResponse) => void> = {
  '/zipped': (response) => response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(zipped),
  '/half': (response) => response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(zipped.subarray(0, 90)),
  '/broken': (response) => response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end('no gzip at all'),
  '/bomb': (response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(50_000_000))),
  '/stuck': (response) => response.writeHead(200, json).write('{"half": '),
  '/plain': (response) => response.writeHead(200, { 'x-total-count': '7' }).end(text),
}

let connections = 0
let asked: { method: string; length: string | undefined }[] = []
const server: Server = createServer((request, response) => {
  asked.push({ method: request.method ?? '', length: request.headers['content-length'] })
  answers[request.url ?? '']?.(response)
}).on('connection', () => (connections += 1))
await once(server.listen(0, '127.0.0.1'), 'listening')
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

const get: RequestParts = { method: 'GET', headers: {} }

async function read(path: string, { signal = neverAborted, send = makeSend({}), parts = get } = {}) {
  return readResponse(await send(url + path, parts, signal))
}

test('a response comes with its status, its headers by any case, and its body', async () => {
  const { status, headers, body } = await read('/plain')
  assert.equal([status, headers.get('X-Total-Count'), headers.get('retry-after')], [200, '7', null])
  assert.equal(body, { kind: 'json', value: JSON.parse(text) })
})

test('a compressed body is read whole', async () => {
  assert.equal((await read('/zipped')).body, { kind: 'json', value: JSON.parse(text) })
})

for (const path of ['/half', '/broken'])
  test(`a compressed body that is ${path.slice(1)} is no answer`, async () => {
    assert.ok((await failureOf(read(path))) instanceof Error)
  })

test('a small body that unpacks to a large one is left unread', async () => {
  assert.equal((await read('/bomb')).body, { kind: 'foreign', what: 'more than 8 MiB' })
})

test('a body that stops in the middle ends with the time of the call', async () => {
  // Nothing else would end it before the test.
  assert.ok((await failureOf(read('/stuck', { signal: AbortSignal.timeout(100) }))) instanceof Error)
})

test('calls share a connection, and a deletion with a body says how long it is', async () => {
  const send = makeSend({})
  connections = 0
  asked = []
  for (let n = 0; n < 3; n += 1) await read('/plain', { send })
  await read('/plain', { send, parts: { method: 'DELETE', headers: {}, body: '{"ä":1}' } })
  await read('/plain', { send, parts: { method: 'POST', headers: {} } })
  assert.is(connections, 1)
  assert.equal(asked.slice(3), [
    { method: 'DELETE', length: '8' },
    { method: 'POST', length: '0' },
  ])
})

test('a connection that was idle is not used again: the server may be about to close it', async () => {
  const send = makeSend({ idleMs: 100 })
  connections = 0
  const [[socket]] = await Promise.all([once(server, 'connection') as Promise<[Socket]>, read('/plain', { send })])
  await once(socket, 'close')
  await read('/plain', { send })
  assert.is(connections, 2)
})

/** Accepts connections and says nothing, so that no TLS session ever begins. */
async function withSilentServer(work: (address: string) => Promise<void>): Promise<void> {
  const sockets: Socket[] = []
  const silent = createTcpServer((socket) => void sockets.push(socket.on('error', () => {})))
  await once(silent.listen(0, '127.0.0.1'), 'listening')
  try {
    await work(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`)
  } finally {
    for (const socket of sockets) socket.destroy()
    await new Promise((closed) => silent.close(closed))
  }
}

const noConnection = async (options: SendOptions, address: string) => {
  const facts = {
    vendor: 'Example',
    name: 'make',
    method: 'POST',
    path: '/things',
    isRead: false,
    secrets: [],
    hints: {},
  }
  const send = makeSend({ ...options, connectTimeoutMs: 100, idleMs: 200 })
  return connectionError(facts, await failureOf(send(address, { method: 'POST', headers: {} }, neverAborted)))
}

test('a write to a server that never completes a connection did nothing, for certain', async () => {
  await withSilentServer(async (address) => {
    const { outcome, message } = await noConnection({}, address)
    assert.equal(
      [outcome, message],
      ['nothing', 'Example cannot be reached for POST /things: no connection within 0.1 s'],
    )
  })
})

test('the same for a proxy that accepts the connection and never answers', async () => {
  await withSilentServer(async (address) => {
    const proxy = { HTTPS_PROXY: address.replace('https:', 'http:') }
    const { outcome } = await noConnection({ proxy }, 'https://cloud.invalid')
    assert.is(outcome, 'nothing')
  })
})

test.after(() => {
  server.closeAllConnections()
  server.close()
})

test.run()
