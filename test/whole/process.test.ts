// The process itself, against callers without rights and against users of its machine.
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { type Socket, connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freePorts } from '../../sandbox/ports.ts'
import { startProduct } from '../../sandbox/product.ts'
import { serviceAccountUser } from '../../settings/installed-names.ts'
import { loadBalancer } from './manifests.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const product = await stage.startSwept({
  // With such a small heap, parsing a few of these bodies would end the process.
  env: { METAL_METRO_NAME: 'da', NODE_OPTIONS: '--max-old-space-size=160' },
})

const configuration = ['get', 'mutatingwebhookconfiguration', 'zz-eip-admission']
const webhook = new URL(await stage.run(...configuration, '-o', 'jsonpath={.webhooks[0].clientConfig.url}'))

/** JSON that needs many times its own size in memory. */
const nested = Buffer.from(`[${'[],'.repeat((7 * 2 ** 20 - 10) / 3)}[]]`)

const isAlive = async () => product.isRunning() && (await product.health('/livez')).status === 200

function post(url: URL, body: Buffer, headers: Record<string, string> = {}): Promise<number | 'closed'> {
  return new Promise((resolve) => {
    const options = {
      method: 'POST',
      rejectUnauthorized: false,
      headers: { 'content-type': 'application/json', 'content-length': body.length, ...headers },
      agent: false,
    }
    const call = request(url, options, (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode ?? 0))
    })
    call.on('error', () => resolve('closed'))
    call.end(body)
  })
}

test('bodies of 7 MiB to unknown paths end the process on neither port', async () => {
  const health = new URL(`https://127.0.0.1:${product.ports.health}`)
  for (const port of [webhook, health]) {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => post(new URL(n % 2 === 0 ? '/' : `/unknown-${n}`, port), nested)),
    )
    for (const answer of answers) assert.ok([404, 'closed'].includes(answer), `${port.origin} answers ${answer}`)
    assert.ok(await isAlive())
  }
  assert.ok((await stage.create(loadBalancer('after-bodies'))).spec.loadBalancerIP)
})

/** The first line of the answer to the head of a request whose body never comes. */
async function answerToHead(head: string): Promise<string> {
  const socket = tls.connect({ host: '127.0.0.1', port: Number(webhook.port), rejectUnauthorized: false })
  socket.write(`${head}\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n`)
  const [text] = (await once(socket.setEncoding('utf8'), 'data', { signal: AbortSignal.timeout(30_000) })) as [string]
  socket.destroy()
  return text.slice(0, text.indexOf('\r\n'))
}

test('a path, a method or a content type that is wrong is answered before the body arrives', async () => {
  const json = 'content-type: application/json'
  assert.is(await answerToHead(`POST / HTTP/1.1\r\n${json}`), 'HTTP/1.1 404 Not Found')
  assert.is(await answerToHead(`PUT ${webhook.pathname} HTTP/1.1\r\n${json}`), 'HTTP/1.1 404 Not Found')
  assert.is(await answerToHead(`POST /%zz HTTP/1.1\r\n${json}`), 'HTTP/1.1 400 Bad Request')
  const [known, unsupported] = [`POST ${webhook.pathname} HTTP/1.1`, 'HTTP/1.1 415 Unsupported Media Type']
  assert.is(await answerToHead(`${known}\r\ncontent-type: text/plain`), unsupported)
})

test('the log has each call with its result, and every line a date', async () => {
  await stage.create(loadBalancer('logged'))
  const lines = readFileSync(stage.logOf('eip-admission'), 'utf8').split('\n')
  const has = (...parts: string[]) => lines.some((line) => parts.every((part) => line.includes(part)))
  assert.ok(has('call to the provider', '"call":"reserve"', '"result":"201"'), 'a call to the provider')
  assert.ok(has('call to the API server', 'create ElasticIP default.logged', '"result":"ok"'), 'a write')
  for (const line of lines.filter((one) => / (INFO|WARN|DEBUG)/.test(one))) assert.match(line, /^\[\d{4}-\d\d-\d\dT/)
})

test('a connection on which nobody speaks ends', async () => {
  const silent = connect(Number(webhook.port), '127.0.0.1')
  await once(silent, 'connect')
  await once(silent, 'close', { signal: AbortSignal.timeout(90_000) })
})

test('connections without a request keep no caller out', async () => {
  const sockets: Socket[] = []
  for (let n = 0; n < 2_200; n += 1) {
    const socket = connect(Number(webhook.port), '127.0.0.1').on('error', () => undefined)
    sockets.push(socket)
    if (n % 100 === 0) await sleep(10)
  }
  assert.ok((await stage.create(loadBalancer('among-many'))).spec.loadBalancerIP)
  assert.ok(await isAlive())
  for (const socket of sockets) socket.destroy()
})

test('SIGUSR1 opens no debugger, and SIGHUP does not end the process', async () => {
  for (const signal of ['SIGUSR1', 'SIGHUP'] as const) {
    product.signal(signal)
    await sleep(1_000)
    assert.ok(await isAlive(), signal)
  }
  assert.not.match(readFileSync(stage.logOf('eip-admission'), 'utf8'), /Debugger listening/)
})

test('it ends, and leaves no port open, where another program has its health port', async () => {
  const [free = 0] = await freePorts(1)
  const logFile = stage.logOf('without-a-port')
  const { exited } = startProduct({
    kubeconfig: stage.controlPlane.kubeconfigFor(serviceAccountUser('eip-admission')),
    cloud: { url: stage.cloud.url, project: stage.project, token: stage.token },
    ports: { webhook: free, health: product.ports.health },
    logFile,
    env: { METAL_METRO_NAME: 'da' },
  })
  assert.is(await exited, 1)
  const log = readFileSync(logFile, 'utf8')
  assert.match(log, `on 127.0.0.1, port ${product.ports.health}: another program has this port`)
  assert.not.match(log, 'still runs')
})

test.after(() => stage.close())

test.run()
