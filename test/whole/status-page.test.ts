// The status page of the real process: who may see it, and what it shows about a real API server.
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { createServer } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { freePorts } from '../../sandbox/ports.ts'
import { eventually } from './eventually.ts'
import { loadBalancer } from './manifests.ts'
import { openStage } from './test-stage.ts'

const stage = await openStage()
const token = 'status-0123456789abcdef'
const file = `${stage.dir}/status-token`
writeFileSync(file, `${token}\n`)
const [port = 0] = await freePorts(1)
const product = await stage.startSwept({
  env: { METAL_METRO_NAME: 'da' },
  flags: [`--status-page-token-file=${file}`, `--status-page-address=127.0.0.1:${port}`],
})

const loopback = `http://127.0.0.1:${port}`
const network = `https://127.0.0.1:${product.ports.health}`
const bearer = { authorization: `Bearer ${token}` }
const password = { authorization: `Basic ${Buffer.from(`operator:${token}`).toString('base64')}` }

type Call = { method?: string; headers?: Record<string, string> }

/** Returns the start of an answer, before its body. */
function ask(url: string, { method = 'GET', headers = {} }: Call = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.startsWith('https:') ? request : plainRequest
    send(url, { method, headers, rejectUnauthorized: false, agent: false }, resolve).on('error', reject).end()
  })
}

async function read(
  url: string,
  call?: Call,
): Promise<{ status: number; text: string; headers: IncomingMessage['headers'] }> {
  const answer = await ask(url, call)
  let text = ''
  for await (const part of answer.setEncoding('utf8')) text += String(part)
  return { status: answer.statusCode ?? 0, text, headers: answer.headers }
}

for (const { name, at } of [
  { name: 'the loopback address', at: loopback },
  { name: 'the health port', at: network },
]) {
  test(`${name} shows the page with the token alone`, async () => {
    assert.is((await read(`${at}/status`)).status, 401)
    assert.is((await read(`${at}/status`, { headers: { authorization: 'Bearer wrong' } })).status, 401)
    for (const headers of [bearer, password]) assert.is((await read(`${at}/status`, { headers })).status, 200)
  })

  test(`${name} takes no other method and has no other page`, async () => {
    assert.is((await read(`${at}/status`, { method: 'HEAD', headers: bearer })).text, '')
    assert.ok([404, 405].includes((await read(`${at}/status`, { method: 'POST', headers: bearer })).status))
    assert.is((await read(`${at}/status/x`, { headers: bearer })).status, 404)
  })
}

test('health and metrics need no token, and the page is not among them', async () => {
  for (const path of ['/livez', '/readyz', '/metrics']) assert.is((await read(`${network}${path}`)).status, 200)
  assert.is((await read(`${loopback}/metrics`, { headers: bearer })).status, 404)
})

test('a browser that opens the port finds the page, which is neither cached nor framed', async () => {
  const { status, headers: root } = await read(`${loopback}/`)
  assert.equal([status, root.location], [302, '/status'])
  const { headers } = await read(`${loopback}/status`, { headers: bearer })
  assert.is(headers['cache-control'], 'no-store')
  assert.match(String(headers['content-security-policy']), /default-src 'none'.*frame-ancestors 'none'/)
})

test('the page shows the cluster, the provider and the process', async () => {
  const { text } = await read(`${loopback}/status`, { headers: bearer })
  for (const id of ['summary', 'addresses', 'nodes', 'cloud', 'controllers', 'events', 'process'])
    assert.ok(text.includes(`<section id="${id}"`), id)
  assert.match(text, 'this replica')
  assert.match(text, 'service-address')
  assert.not(text.includes(stage.token), 'the token of the provider')
  assert.not(text.includes(token), 'the token of the page')
})

test('the page shows the address of a new Service, and views make no calls to the provider', async () => {
  const { spec } = await stage.create(loadBalancer('watched'))
  await stage.settled('watched')
  stage.cloud.control.calls.clear()
  for (let view = 0; view < 50; view += 1) {
    const { status, text } = await read(`${loopback}/status`, { headers: bearer })
    assert.is(status, 200)
    assert.ok(text.includes(String(spec.loadBalancerIP)) && text.includes('default/watched'))
  }
  assert.ok(stage.cloud.control.calls.all().length < 20)
})

test('wrong tokens are slowed down, and health is not', async () => {
  const wrong = { headers: { authorization: 'Bearer guess-0123456789' } }
  await eventually('enough of them', async () => (await read(`${network}/status`, wrong)).status === 429 || undefined)
  assert.is((await read(`${network}/livez`)).status, 200)
  assert.not(readFileSync(stage.logOf('eip-admission'), 'utf8').includes(token), 'the token is in the log')
})

test('a changed token takes effect without a restart', async () => {
  writeFileSync(file, 'another-0123456789abcdef')
  const fresh = { headers: { authorization: 'Bearer another-0123456789abcdef' } }
  await eventually('the new token', async () => (await read(`${network}/status`, fresh)).status === 200 || undefined)
  await product.stop()
  assert.not(product.isRunning())
})

test('a port that is taken keeps the page away and nothing else, until it is free', async () => {
  const holder = createServer()
  await once(holder.listen(port, '127.0.0.1'), 'listening')
  const late = await stage.start({
    env: { METAL_METRO_NAME: 'da' },
    flags: [`--status-page-address=127.0.0.1:${port}`],
  })
  assert.is((await late.health('/readyz')).status, 200)
  assert.is((await late.health('/status')).status, 404)
  await eventually(
    'the log reports that the page cannot listen',
    () => readFileSync(stage.logOf('eip-admission'), 'utf8').includes('the status page cannot listen') || undefined,
  )
  await once(holder.close(), 'close')
  await eventually('the page', async () => {
    const answer = await read(`${loopback}/status`).catch(() => undefined)
    return answer?.status === 200 || undefined
  })
  const { status } = await read(`${loopback}/status`, { headers: { host: 'evil.example' } })
  assert.is(status, 403)
})

test.after(() => stage.close())

test.run()
