import type { ServerResponse } from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Access } from '../../kube/credentials.ts'
import { connect } from '../../kube/connect.ts'
import { KubeError } from '../../kube/errors.ts'
import type { ConfigMap } from '../../kube/objects.ts'
import { configMaps, namespaces } from '../../kube/resource.ts'
import { sendJson, clientFor, errorOf, sendStatus, until, withServer } from './scripted-server.ts'

const at = { namespace: 'default', name: 'a' }
const map: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: at }
const stored: ConfigMap = { ...map, metadata: { ...at, resourceVersion: '1' } }
type Client = ReturnType<typeof clientFor>

test('many calls share one connection', () =>
  withServer(
    (_, response) => sendJson(response, map),
    async (server) => {
      const client = clientFor(server)
      for (let i = 0; i < 50; i++) await client.get(configMaps, at)
      assert.is(server.connections.opened, 1)
    },
  ))

test('a burst of calls opens 32 connections at most, and keeps 8', () =>
  withServer(
    (_, response) => void setTimeout(() => sendJson(response, map), 5),
    async (server) => {
      const client = clientFor(server)
      await Promise.all(Array.from({ length: 200 }, () => client.get(configMaps, at)))
      assert.is(server.connections.opened, 32)
      await until(() => server.connections.open <= 8, 'the end of the idle connections')
    },
  ))

const patience: { name: string; status: number; call: (client: Client) => Promise<unknown>; tries: number }[] = [
  { name: 'a read', status: 429, call: (client) => client.get(configMaps, at), tries: 3 },
  { name: 'a list', status: 503, call: (client) => client.list(namespaces), tries: 3 },
  { name: 'a replace of one version', status: 429, call: (client) => client.replace(configMaps, stored), tries: 3 },
  { name: 'a replace of any version', status: 503, call: (client) => client.replace(configMaps, map), tries: 1 },
  { name: 'an apply', status: 503, call: (client) => client.apply(configMaps, map, { fieldManager: 'm' }), tries: 3 },
  {
    name: 'a merge patch',
    status: 429,
    call: (client) => client.patch(configMaps, { ...at, patch: { merge: {} } }),
    tries: 3,
  },
  {
    name: 'a JSON patch',
    status: 503,
    call: (client) => client.patch(configMaps, { ...at, patch: { json: [] } }),
    tries: 1,
  },
  { name: 'a remove', status: 503, call: (client) => client.remove(configMaps, at), tries: 3 },
  { name: 'a create', status: 429, call: (client) => client.create(configMaps, map), tries: 3 },
  { name: 'a create', status: 503, call: (client) => client.create(configMaps, map), tries: 1 },
  { name: 'a read that failed inside the server', status: 500, call: (client) => client.get(configMaps, at), tries: 1 },
]

for (const { name, status, call, tries } of patience) {
  test(`${name} that gets ${status} with Retry-After is sent ${tries === 1 ? 'once' : 'again until it passes'}`, () => {
    let sent = 0
    return withServer(
      (_, response) => {
        sent += 1
        if (sent < 3) sendStatus(response, status, { reason: 'Busy', headers: { 'retry-after': '0.01' } })
        else sendJson(response, { metadata: {}, items: [] })
      },
      async (server) => {
        await Promise.allSettled([call(clientFor(server))])
        assert.is(server.requests.length, tries)
      },
    )
  })
}

test('a call to a busy server is not repeated forever', () =>
  withServer(
    (_, response) =>
      sendStatus(response, 429, {
        reason: 'TooManyRequests',
        message: 'slow down',
        headers: { 'retry-after': '0.01' },
      }),
    async (server) => {
      const error = await errorOf(clientFor(server).get(configMaps, at))
      assert.is(error.message, 'get ConfigMap default/a: slow down (429 TooManyRequests)')
      assert.is(server.requests.length, 4)
    },
  ))

test('a Retry-After of 0 is ignored: a busy server would get the same call at once', () =>
  withServer(
    (_, response) => sendStatus(response, 429, { reason: 'TooManyRequests', headers: { 'retry-after': '0' } }),
    async (server) => {
      const error = await errorOf(clientFor(server).get(configMaps, at))
      assert.equal([(error as KubeError).retryAfterMs, server.requests.length], [undefined, 1])
    },
  ))

test('a Retry-After longer than the time-out is returned to the caller', () =>
  withServer(
    (_, response) => sendStatus(response, 503, { reason: 'ServiceUnavailable', details: { retryAfterSeconds: 70 } }),
    async (server) => {
      const error = await errorOf(clientFor(server).get(configMaps, at, { timeoutMs: 60_000 }))
      assert.is((error as KubeError).retryAfterMs, 70_000)
      assert.is(server.requests.length, 1)
    },
  ))

test('a call to a server that does not answer times out', () =>
  withServer(
    () => {},
    async (server) => {
      const error = (await errorOf(clientFor(server, { timeoutMs: 50 }).get(configMaps, at))) as KubeError
      assert.equal([error.status, error.reason], [0, 'Timeout'])
      assert.is(error.message, 'get ConfigMap default/a: no answer within 50 ms')
      await until(() => server.connections.open === 0, 'the end of the connection')
    },
  ))

test('a call whose answer stops in the middle times out', () =>
  withServer(
    (_, response) => void response.writeHead(200).write('{"kind":'),
    async (server) => {
      const error = (await errorOf(clientFor(server).get(configMaps, at, { timeoutMs: 50 }))) as KubeError
      assert.is(error.reason, 'Timeout')
      await until(() => server.connections.open === 0, 'the end of the connection')
    },
  ))

test('a call that its caller aborts rejects with the reason of the abort, and closes its connection', () =>
  withServer(
    () => {},
    async (server) => {
      const stop = new AbortController()
      const call = errorOf(clientFor(server).get(configMaps, at, { signal: stop.signal }))
      await until(() => server.requests.length === 1)
      stop.abort(new Error('shutting down'))
      assert.is((await call).message, 'shutting down')
      await until(() => server.connections.open === 0, 'the end of the connection')
      assert.is(
        (await errorOf(clientFor(server).get(configMaps, at, { signal: stop.signal }))).message,
        'shutting down',
      )
      assert.is(server.requests.length, 1)
    },
  ))

test('a call that waits for a connection obeys its time limit and its abort, and is never sent', async () => {
  const held: ServerResponse[] = []
  await withServer(
    ({ path }, response) => {
      if (path.endsWith('/held')) held.push(response)
      else sendJson(response, map)
    },
    async (server) => {
      const client = clientFor(server)
      const busy = Array.from({ length: 32 }, () => client.get(configMaps, { ...at, name: 'held' }))
      await until(() => held.length === 32)
      const stop = new AbortController()
      const aborted = errorOf(client.get(configMaps, { ...at, name: 'aborted' }, { signal: stop.signal }))
      const late = (await errorOf(client.get(configMaps, { ...at, name: 'late' }, { timeoutMs: 50 }))) as KubeError
      assert.equal([late.reason, late.message], ['Timeout', 'get ConfigMap default/late: no answer within 50 ms'])
      stop.abort(new Error('shutting down'))
      assert.is((await aborted).message, 'shutting down')
      const last = client.get(configMaps, { ...at, name: 'last' })
      assert.is(server.requests.length, 32)
      for (const response of held) sendJson(response, map)
      await Promise.all([...busy, last])
      assert.equal(new Set(server.requests.map(({ path }) => path.split('/').at(-1))), new Set(['held', 'last']))
    },
  )
})

const broken: { name: string; respond: Parameters<typeof withServer>[0]; reason: string; words: RegExp }[] = [
  {
    name: 'a connection that is reset',
    respond: (_, response) => void response.socket?.resetAndDestroy(),
    reason: 'Unreachable',
    words: /^get ConfigMap default\/a: no answer from the API server: (read ECONNRESET|socket hang up)$/,
  },
  {
    name: 'a connection that ends in the middle of an answer',
    respond: (_, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"kind"')
      setTimeout(() => response.socket?.destroy(), 20)
    },
    reason: 'Unreachable',
    words: /no answer from the API server: aborted/,
  },
  {
    name: 'a page of HTML',
    respond: (_, response) =>
      void response.writeHead(200, { 'content-type': 'text/html; charset=x' }).end('<b>the-secret-token</b>'),
    reason: 'Unreadable',
    words:
      /^get ConfigMap default\/a: 200, but the body \(text\/html\) is not JSON; is this address an API server's\?$/,
  },
  {
    name: 'a gateway that refuses',
    respond: (_, response) => void response.writeHead(502).end('<b>the-secret-token</b>'),
    reason: 'Unreadable',
    words: /^get ConfigMap default\/a: the answer gives no message \(502 without a reason\)$/,
  },
  {
    name: 'an answer without end',
    respond: (_, response) => {
      response.on('error', () => {})
      for (let i = 0; i < 40; i++) response.write(Buffer.alloc(2 ** 20, ' '))
    },
    reason: 'TooLarge',
    words: /^get ConfigMap default\/a: the answer is larger than 32 MiB$/,
  },
]

for (const { name, respond, reason, words } of broken) {
  test(`the error for ${name} names the call and holds no secret`, () =>
    withServer(respond, async (server) => {
      const error = await errorOf(clientFor(server).get(configMaps, at))
      assert.ok(error instanceof KubeError)
      assert.is(error.reason, reason)
      assert.match(error.message, words)
      assert.not.match(JSON.stringify([error, error.stack]), /the-secret-token/)
    }))
}

test('a call to a server that is down is unreachable', async () => {
  const error = (await errorOf(clientFor({ url: 'http://127.0.0.1:1' }).get(configMaps, at))) as KubeError
  assert.equal([error.status, error.reason], [0, 'Unreachable'])
  assert.match(error.message, /ECONNREFUSED 127.0.0.1:1/)
})

test('a read is repeated when its kept-alive connection was closed', () => {
  let sent = 0
  return withServer(
    (_, response) => {
      sent += 1
      if (sent === 2) response.socket?.destroy()
      else sendJson(response, map)
    },
    async (server) => {
      const client = clientFor(server)
      await client.get(configMaps, at)
      assert.equal(await client.get(configMaps, at), map)
      assert.is(server.connections.opened, 2)
    },
  )
})

test('a create is not repeated when its kept-alive connection was closed, because it may have succeeded', () => {
  let sent = 0
  return withServer(
    (_, response) => {
      sent += 1
      if (sent === 2) response.socket?.destroy()
      else sendJson(response, map)
    },
    async (server) => {
      const client = clientFor(server)
      await client.get(configMaps, at)
      const error = (await errorOf(client.create(configMaps, map))) as KubeError
      assert.equal([error.reason, server.requests.length], ['Unreachable', 2])
    },
  )
})

test('a token that gets 401 is renewed, and the call is sent once more', () =>
  withServer(
    ({ headers }, response) =>
      headers.authorization === 'Bearer new'
        ? sendJson(response, map)
        : sendStatus(response, 401, { reason: 'Unauthorized' }),
    async ({ url, requests }) => {
      const access = (token: string): Access => ({ url, headers: { authorization: `Bearer ${token}` }, tls: {} })
      const credentials = { current: async () => access('old'), renew: async () => access('new') }
      assert.equal(await connect(credentials, { userAgent: 'test/1' }).create(configMaps, map), map)
      assert.is(requests.length, 2)
    },
  ))

test('a call that gets 401 twice fails', () =>
  withServer(
    (_, response) => sendStatus(response, 401, { reason: 'Unauthorized', message: 'Unauthorized' }),
    async (server) => {
      assert.is(((await errorOf(clientFor(server).get(configMaps, at))) as KubeError).status, 401)
      assert.is(server.requests.length, 2)
    },
  ))

test('an error of the credentials names the call', async () => {
  const credentials = {
    current: () => Promise.reject(new Error('no token there')),
    renew: () => Promise.reject(new Error('no token there')),
  }
  const error = (await errorOf(connect(credentials, { userAgent: 'test/1' }).get(configMaps, at))) as KubeError
  assert.equal([error.reason, error.message], ['NoCredentials', 'get ConfigMap default/a: no token there'])
})

const never = () => new Promise<never>(() => {})

test('a call that waits for credentials times out', async () => {
  const client = connect({ current: never, renew: never }, { userAgent: 'test/1', timeoutMs: 30 })
  assert.is(((await errorOf(client.get(configMaps, at))) as KubeError).reason, 'Timeout')
})

test('the URL of a server may have a path', () =>
  withServer(
    (_, response) => sendJson(response, map),
    async (server) => {
      await clientFor({ url: `${server.url}/k8s/clusters/c-1/` }).get(configMaps, at)
      assert.is(server.requests[0]?.path, '/k8s/clusters/c-1/api/v1/namespaces/default/configmaps/a')
    },
  ))

test.run()
