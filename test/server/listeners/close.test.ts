import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import tls from 'node:tls'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { issueAuthority, issueLeaf } from '../../../certs/authority.ts'
import type { CertSource } from '../../../certs/cert-source.ts'
import { freePorts } from '../../../sandbox/ports.ts'
import { openListeners } from '../../../server/listeners/listeners.ts'
import { silentLog } from '../../fakes/log.ts'

const lifetimeMs = 86_400_000
const authority = await issueAuthority({ commonName: 'ours', now: Date.now(), lifetimeMs })
const leaf = await issueLeaf({ authority, hosts: ['127.0.0.1'], now: Date.now(), lifetimeMs })
const certs = { current: () => leaf, onChange: () => undefined } as unknown as CertSource

/** Keeps the event loop busy, so that what is due comes before what arrives. */
function stall(ms: number): void {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}

const checks = { page: undefined, live: [], ready: [], details: [], metrics: async () => '' }

/** Webhooks that nobody calls. */
const webhooks = {
  clients: undefined,
  webhooks: [],
  pathSecrets: () => [],
  log: silentLog,
  observe: () => undefined,
}

test('where the health port is taken, the webhook port is closed again', async () => {
  const [webhookPort = 0, healthPort = 0] = await freePorts(2)
  const webhookAt = { host: '127.0.0.1', port: webhookPort }
  const healthAt = { host: '127.0.0.1', port: healthPort }
  const taken = createServer().listen(healthAt)
  await once(taken, 'listening')
  const opening = openListeners({
    certs,
    tls: {},
    webhooks: { ...webhooks, at: webhookAt },
    health: { ...checks, at: healthAt },
    log: silentLog,
  })
  assert.match(String(await opening.catch((error: unknown) => error)), /another program has this port.*--secure-port/)
  const [error] = await once(connect(webhookAt), 'error')
  assert.is(error.code, 'ECONNREFUSED')
  await once(taken.close(), 'close')
})

test('a first request that has arrived when the ports close is answered', async () => {
  const [port = 0] = await freePorts(1)
  const at = { host: '127.0.0.1', port }
  const health = { at, ...checks }
  const listeners = await openListeners({ certs, tls: {}, webhooks: undefined, health, log: silentLog })
  // With TLS 1.3 a client is connected before the server has read the end of its handshake.
  const socket = tls.connect({ ...at, rejectUnauthorized: false, maxVersion: 'TLSv1.2' })
  await once(socket, 'secureConnect')
  await turn()
  const closing = listeners.close(0)
  socket.write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n')
  stall(20)
  assert.match(Buffer.concat(await socket.toArray()).toString(), /^HTTP\/1\.1 200 /)
  await closing
})

test.run()
