import { once } from 'node:events'
import { request } from 'node:https'
import type { IncomingMessage } from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority, issueLeaf } from '../../../certs/authority.ts'
import type { CertSource } from '../../../certs/cert-source.ts'
import { nodeHttp } from '../../../lib/node-http.ts'
import { freePorts } from '../../../sandbox/ports.ts'
import { openListeners } from '../../../server/listeners/listeners.ts'
import { type Address, portOpener } from '../../../server/listeners/open-port.ts'
import { openPlainHealth } from '../../../server/serve-control-plane.ts'
import { tlsApp } from '../../../server/listeners/tls-app.ts'
import { processSettings } from '../../../settings/process.ts'
import { silentLog as log } from '../../fakes/log.ts'
import { recordedLog } from '../../kube/recorded-log.ts'

const lifetimeMs = 86_400_000
const authority = await issueAuthority({ commonName: 'ours', now: Date.now(), lifetimeMs })
const leaf = await issueLeaf({ authority, hosts: ['127.0.0.1'], now: Date.now(), lifetimeMs })
const certs = { current: () => leaf, onChange: () => undefined } as unknown as CertSource

const checks = { live: [], ready: [], details: [], metrics: async () => '' }

async function statusOf(url: string): Promise<number | undefined> {
  const [answer] = (await once(request(url, { rejectUnauthorized: false, agent: false }).end(), 'response')) as [
    IncomingMessage,
  ]
  answer.resume()
  return answer.statusCode
}

test('with the defaults both ports answer on IPv4 and on IPv6', async () => {
  const [webhookPort = 0, healthPort = 0] = await freePorts(2)
  const listeners = await openListeners({
    certs,
    tls: {},
    webhooks: {
      at: { host: processSettings.webhookBindAddress.default, port: webhookPort },
      clients: undefined,
      webhooks: [],
      pathSecrets: () => [],
      log,
    },
    health: { at: { host: processSettings.bindAddress.default, port: healthPort }, page: undefined, ...checks },
    log,
  })
  try {
    for (const host of ['127.0.0.1', '[::1]']) {
      assert.is(await statusOf(`https://${host}:${webhookPort}/`), 404)
      assert.is(await statusOf(`https://${host}:${healthPort}/livez`), 200)
    }
  } finally {
    await listeners.close(0)
  }
})

test('so does the health port of a process without a certificate', async () => {
  const [port = 0] = await freePorts(1)
  const health = await openPlainHealth({ host: processSettings.bindAddress.default, port }, { ...checks, log })
  try {
    for (const host of ['127.0.0.1', '[::1]']) assert.is((await fetch(`http://${host}:${port}/livez`)).status, 200)
  } finally {
    await health.close()
  }
})

test('0.0.0.0 means IPv4 alone', async () => {
  const [port = 0] = await freePorts(1)
  const health = await openPlainHealth({ host: '0.0.0.0', port }, { ...checks, log })
  try {
    assert.is((await fetch(`http://127.0.0.1:${port}/livez`)).status, 200)
    const refused = await fetch(`http://[::1]:${port}/livez`).catch((error: Error) => error.cause)
    assert.is((refused as NodeJS.ErrnoException).code, 'ECONNREFUSED')
  } finally {
    await health.close()
  }
})

const failure = (code: string) => Object.assign(new Error(`listen ${code}`), { code })

for (const code of ['EAFNOSUPPORT', 'EADDRNOTAVAIL'])
  test(`on a machine that answers ${code} to IPv6, all addresses are those of IPv4, and one log line says why`, async () => {
    const recorded = recordedLog()
    const tried: string[] = []
    const listen = async ({ host, port }: Address) => {
      tried.push(`${host} ${port}`)
      if (host === '::') throw failure(code)
    }
    const openPort = portOpener(recorded)
    await openPort('webhooks', { host: '::', port: 1 }, listen)
    await openPort('health', { host: '::', port: 2 }, listen)
    assert.equal(tried, [':: 1', '0.0.0.0 1', '0.0.0.0 2'])
    assert.is(recorded.lines.length, 1)
  })

test('an address that this machine lacks, and a port that is taken, are not replaced', async () => {
  const openPort = portOpener(log)
  const openWith = async (host: string, code: string) => {
    const opened = openPort('health', { host, port: 10_258 }, () => Promise.reject(failure(code)))
    return String(await opened.catch((error: unknown) => error))
  }
  assert.is(await openWith('2001:db8::1', 'EADDRNOTAVAIL'), 'Error: listen EADDRNOTAVAIL')
  assert.is(
    await openWith('::', 'EADDRINUSE'),
    'Error: health and metrics cannot be served on ::, port 10258: another program has this port (EADDRINUSE); ' +
      'stop that program, or give serve a free port with --secure-port',
  )
})

test('a server listens on IPv4 after IPv6 has failed', async () => {
  const [tlsPort = 0, plainPort = 0] = await freePorts(2)
  // Nobody has this address.
  const unavailable = ({ host, port }: Address) => ({ host: host === '::' ? '2001:db8::1' : host, port })
  const openPort = () => portOpener(log)
  const app = tlsApp(certs, {})
  await openPort()('webhooks', { host: '::', port: tlsPort }, (at) => app.listen(unavailable(at)))
  assert.is(await statusOf(`https://127.0.0.1:${tlsPort}/`), 404)
  const server = nodeHttp.createServer((_request, response) => response.end())
  const listen = (at: Address) => once(server.listen(unavailable(at)), 'listening')
  await openPort()('health', { host: '::', port: plainPort }, listen)
  assert.is((await fetch(`http://127.0.0.1:${plainPort}`)).status, 200)
  await app.close()
  server.closeAllConnections()
  await once(server.close(), 'close')
})

test.run()
