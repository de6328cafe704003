import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { vendorHttp } from '../../../clouds/http/client.ts'
import { proxyOf } from '../../../clouds/http/proxy.ts'
import { cloudErrorOf } from '../scripted-server.ts'

const asked: string[] = []
const proxy = createServer((request, response) => {
  asked.push(request.url ?? '')
  response.end()
})
// It refuses every tunnel: here it only matters who asks for one.
proxy.on('connect', ({ url, headers }, socket) => {
  asked.push(url ?? '')
  if (headers['proxy-authorization'] !== `Basic ${btoa('user:pass')}`) asked.push('without its password')
  socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n')
})
await once(proxy.listen(0, '127.0.0.1'), 'listening')
const address = `http://user:pass@127.0.0.1:${(proxy.address() as AddressInfo).port}`

/** The error of a write to a cloud at this URL, which cannot be reached in any way. */
function callTo(baseUrl: string, env: Record<string, string>) {
  const http = vendorHttp({
    vendor: 'Example',
    baseUrl,
    userAgent: 'eip-admission/test',
    headers: () => ({}),
    errorText: () => undefined,
    proxy: proxyOf(env),
  })
  return cloudErrorOf(http.call({ name: 'make', method: 'POST', path: ['things'] }, AbortSignal.timeout(2_000)))
}

async function askedFor(url: string, env: Record<string, string>): Promise<string[]> {
  asked.length = 0
  await callTo(url, env)
  return [...asked]
}

test('calls go through the proxy of HTTPS_PROXY, except to hosts in NO_PROXY and to this machine', async () => {
  assert.equal(await askedFor('https://cloud.invalid', {}), [])
  const env = { HTTPS_PROXY: address, NO_PROXY: 'other.invalid, .inside.invalid *.star.invalid,port.invalid:8443' }
  assert.equal(await askedFor('https://cloud.invalid', env), ['cloud.invalid:443'])
  assert.equal(await askedFor('https://port.invalid', env), ['port.invalid:443'])
  const direct = [
    'https://other.invalid',
    'https://a.other.invalid',
    'https://a.inside.invalid',
    'https://b.star.invalid',
    'https://port.invalid:8443',
    'https://localhost:1',
    'https://[::1]:1',
  ]
  for (const url of direct) assert.equal(await askedFor(url, env), [], url)
  assert.equal(await askedFor('http://127.0.0.1:1', env), [], 'HTTPS_PROXY is not for http')
  assert.equal(await askedFor('https://cloud.invalid', { HTTPS_PROXY: address, NO_PROXY: '*' }), [])
})

test('HTTP_PROXY alone is the proxy of https too', async () => {
  assert.equal(await askedFor('https://cloud.invalid', { HTTP_PROXY: address }), ['cloud.invalid:443'])
})

test('the names may be in lower case', async () => {
  const env = { https_proxy: address, no_proxy: 'cloud.invalid' }
  assert.equal(await askedFor('https://cloud.invalid', env), [])
  assert.equal(await askedFor('https://another.invalid', env), ['another.invalid:443'])
})

test('a write that a proxy did not let through did nothing, and its error has no password', async () => {
  const error = await callTo('https://cloud.invalid', { HTTPS_PROXY: address })
  assert.equal([error.fault, error.outcome], ['unavailable', 'nothing'])
  assert.match(error.message, 'Example cannot be reached for POST /things: Failed to establish tunnel')
  assert.not.match(`${error.stack} ${String(error.cause)}`, 'pass')
})

test('a proxy that is no URL is an error, which does not show its password', () => {
  for (const wrong of ['proxy:3128', 'user:pass@proxy:3128', 'socks5://user:pass@proxy']) {
    const call = () => proxyOf({ HTTPS_PROXY: wrong })
    assert.throws(call, (error: Error) => error.message.startsWith('HTTPS_PROXY') && !error.message.includes('pass@'))
  }
})

test.after(() => void proxy.close())

test.run()
