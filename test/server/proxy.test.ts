import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { useProxyOf } from '../../server/proxy.ts'

const asked: string[] = []
const proxy = createServer((request, response) => {
  asked.push(request.url ?? '')
  response.end()
})
// It refuses every tunnel: here it only matters who asks for one.
proxy.on('connect', ({ url }, socket) => {
  asked.push(url ?? '')
  socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n')
})
await once(proxy.listen(0, '127.0.0.1'), 'listening')
const address = `http://user:pass@127.0.0.1:${(proxy.address() as AddressInfo).port}`

async function askedFor(url: string): Promise<string[]> {
  asked.length = 0
  await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
  return [...asked]
}

test('calls go through the proxy of HTTPS_PROXY, except to hosts in NO_PROXY and to this machine', async () => {
  assert.equal(await askedFor('https://cloud.invalid/'), [])
  useProxyOf({ HTTPS_PROXY: address, NO_PROXY: 'other.invalid,.inside.invalid' })
  assert.equal(await askedFor('https://cloud.invalid/'), ['cloud.invalid:443'])
  const direct = ['https://other.invalid/', 'https://a.inside.invalid/', 'https://localhost:1/', 'https://[::1]:1/']
  for (const url of direct) assert.equal(await askedFor(url), [], url)
  assert.equal(await askedFor('http://cloud.invalid/'), [], 'HTTPS_PROXY is not for http')
})

test('the names may be in lower case', async () => {
  useProxyOf({ https_proxy: address, no_proxy: 'cloud.invalid' })
  assert.equal(await askedFor('https://cloud.invalid/'), [])
  assert.equal(await askedFor('https://another.invalid/'), ['another.invalid:443'])
})

test('a proxy that is no URL is an error, which does not show its password', () => {
  for (const wrong of ['proxy:3128', 'user:pass@proxy:3128', 'socks5://user:pass@proxy']) {
    const call = () => useProxyOf({ HTTPS_PROXY: wrong })
    assert.throws(call, (error: Error) => error.message.startsWith('HTTPS_PROXY') && !error.message.includes('pass@'))
  }
})

test.after(() => void proxy.close())

test.run()
